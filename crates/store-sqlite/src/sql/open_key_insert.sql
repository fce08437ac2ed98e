INSERT INTO open_key (pipeline, key, id) VALUES (?1, ?2, ?3)
