SELECT name, body FROM registry WHERE kind = ?1 AND name <= ?2 ORDER BY name DESC LIMIT ?3
