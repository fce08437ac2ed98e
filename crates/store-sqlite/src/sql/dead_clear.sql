DELETE FROM dead_count WHERE pipeline = ?1 AND state = ?2 AND code = ?3 AND count <= 0
