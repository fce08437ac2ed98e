INSERT INTO parent (parent, id) VALUES (?1, ?2)
