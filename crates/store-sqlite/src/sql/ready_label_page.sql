SELECT rank, id FROM ready_label
WHERE task = ?1 AND pipeline = ?2 AND name = ?3 AND value = ?4 AND (rank, id) >= (?5, ?6)
ORDER BY rank, id LIMIT ?7
