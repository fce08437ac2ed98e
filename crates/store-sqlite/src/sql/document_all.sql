SELECT name, body FROM document WHERE submission = ?1
