INSERT INTO submission (id, row_version, last_seq, row) VALUES (?1, 1, ?2, ?3)
