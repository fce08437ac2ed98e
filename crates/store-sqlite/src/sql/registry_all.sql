SELECT name, body FROM registry WHERE kind = ?1 ORDER BY name
