SELECT at, id FROM timer ORDER BY at, id LIMIT ?1
