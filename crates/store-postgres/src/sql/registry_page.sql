SELECT name, body FROM registry WHERE kind = $1 AND name > $2 ORDER BY name LIMIT $3
