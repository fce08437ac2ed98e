SELECT rank, id FROM ready WHERE task = ?1 AND pipeline = ?2 AND (rank, id) >= (?3, ?4)
ORDER BY rank, id LIMIT ?5
