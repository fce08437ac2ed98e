SELECT id FROM lane_line WHERE pipeline = ?1 AND lane = ?2 AND id <= ?3 ORDER BY id DESC LIMIT ?4
