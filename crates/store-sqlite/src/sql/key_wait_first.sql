SELECT id FROM key_wait WHERE pipeline = ?1 AND key = ?2 ORDER BY id LIMIT 1
