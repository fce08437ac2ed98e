INSERT INTO label (name, value, id) VALUES (?1, ?2, ?3)
