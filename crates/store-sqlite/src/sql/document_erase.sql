DELETE FROM document WHERE submission = ?1
