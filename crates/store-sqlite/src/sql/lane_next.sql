SELECT lane FROM lane_line WHERE pipeline = ?1 AND lane > ?2 ORDER BY lane LIMIT 1
