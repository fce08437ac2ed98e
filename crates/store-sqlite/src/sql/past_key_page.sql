SELECT id FROM past_key WHERE pipeline = ?1 AND key = ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4
