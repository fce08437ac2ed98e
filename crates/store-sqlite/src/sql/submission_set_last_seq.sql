UPDATE submission SET last_seq = ?2 WHERE id = ?1
