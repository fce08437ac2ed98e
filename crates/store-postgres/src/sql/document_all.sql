SELECT submission, name, body FROM document WHERE submission = ANY($1)
