DELETE FROM place WHERE pipeline = ?1 AND state = ?2 AND status = ?3 AND id = ?4
