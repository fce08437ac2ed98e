INSERT INTO ready_label (task, pipeline, name, value, rank, id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
