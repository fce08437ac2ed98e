DELETE FROM lane_holder WHERE pipeline = ?1 AND lane = ?2 AND id = ?3
