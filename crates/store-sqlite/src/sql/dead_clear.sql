DELETE FROM dead_kind WHERE pipeline = ?1 AND state = ?2 AND code = ?3 AND pattern = ?4 AND count <= 0
