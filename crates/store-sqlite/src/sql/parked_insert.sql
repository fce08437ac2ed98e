INSERT INTO parked (hold, id) VALUES (?1, ?2)
