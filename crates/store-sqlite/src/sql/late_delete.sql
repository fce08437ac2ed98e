DELETE FROM late WHERE pipeline = ?1 AND at = ?2 AND id = ?3
