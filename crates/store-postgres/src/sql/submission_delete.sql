DELETE FROM submission WHERE id = ANY($1)
