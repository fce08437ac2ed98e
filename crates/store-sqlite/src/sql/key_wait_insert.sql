INSERT INTO key_wait (pipeline, key, id) VALUES (?1, ?2, ?3)
