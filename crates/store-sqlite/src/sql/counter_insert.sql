INSERT INTO counter (pipeline, state, status, count) VALUES (?1, ?2, ?3, ?4)
