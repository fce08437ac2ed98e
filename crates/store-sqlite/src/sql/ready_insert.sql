INSERT INTO ready (task, pipeline, rank, id) VALUES (?1, ?2, ?3, ?4)
