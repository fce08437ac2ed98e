SELECT id FROM parent WHERE parent = ?1 AND id <= ?2 ORDER BY id DESC LIMIT ?3
