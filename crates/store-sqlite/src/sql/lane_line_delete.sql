DELETE FROM lane_line WHERE pipeline = ?1 AND lane = ?2 AND since = ?3 AND tie = ?4 AND id = ?5
