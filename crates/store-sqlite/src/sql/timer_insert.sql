INSERT INTO timer (idle, at, id) VALUES (?1, ?2, ?3)
