SELECT id, length(CAST(payload AS BLOB)) FROM inbox ORDER BY id LIMIT ?1
