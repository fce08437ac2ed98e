SELECT row_version, last_seq, row FROM submission WHERE id = ?1
