SELECT at, id FROM timer WHERE idle = $1 ORDER BY at, id LIMIT $2
