SELECT id FROM parked WHERE hold = ?1 ORDER BY id LIMIT ?2
