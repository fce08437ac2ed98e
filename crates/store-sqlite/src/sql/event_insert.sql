INSERT INTO event (seq, prev, revision, leaf, detail) VALUES (?1, ?2, ?3, ?4, ?5)
