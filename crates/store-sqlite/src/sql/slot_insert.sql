INSERT INTO slot (pipeline, label, value, no, id) VALUES (?1, ?2, ?3, ?4, ?5)
