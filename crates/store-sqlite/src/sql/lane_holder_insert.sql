INSERT INTO lane_holder (pipeline, lane, id) VALUES (?1, ?2, ?3)
