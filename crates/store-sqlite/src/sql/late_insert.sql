INSERT INTO late (pipeline, at, id) VALUES (?1, ?2, ?3)
