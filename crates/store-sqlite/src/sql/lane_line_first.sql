SELECT id FROM lane_line WHERE pipeline = ?1 AND lane = ?2 ORDER BY since, tie, id LIMIT ?3
