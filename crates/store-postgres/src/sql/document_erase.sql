DELETE FROM document WHERE submission = ANY($1)
