INSERT INTO place (pipeline, state, status, id) VALUES (?1, ?2, ?3, ?4)
