SELECT seq, revision FROM tip WHERE submission = ?1
