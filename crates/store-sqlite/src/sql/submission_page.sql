SELECT id FROM submission WHERE id <= ?1 ORDER BY id DESC LIMIT ?2
