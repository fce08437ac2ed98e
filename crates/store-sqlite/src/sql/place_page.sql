SELECT id FROM place WHERE pipeline = ?1 AND state = ?2 AND status = ?3 AND id <= ?4 ORDER BY id DESC LIMIT ?5
