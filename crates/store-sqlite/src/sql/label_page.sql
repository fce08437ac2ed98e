SELECT id FROM label WHERE name = ?1 AND value = ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4
