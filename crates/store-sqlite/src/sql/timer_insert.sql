INSERT INTO timer (at, id) VALUES (?1, ?2)
