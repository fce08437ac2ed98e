SELECT id FROM key_wait WHERE pipeline = ?1 AND key = ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4
