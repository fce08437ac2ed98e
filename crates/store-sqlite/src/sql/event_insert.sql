INSERT INTO event (seq, prev, revision, pipeline, state, labels, leaf, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
