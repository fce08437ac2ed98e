SELECT id, row FROM submission WHERE id > $1 ORDER BY id LIMIT $2
