SELECT id FROM place WHERE pipeline = ?1 AND state = ?2 AND status = 'open' ORDER BY id LIMIT 1
