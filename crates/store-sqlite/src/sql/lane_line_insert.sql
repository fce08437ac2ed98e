INSERT INTO lane_line (pipeline, lane, since, tie, id) VALUES (?1, ?2, ?3, ?4, ?5)
