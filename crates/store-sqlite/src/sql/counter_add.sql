UPDATE counter SET count = count + ?4 WHERE pipeline = ?1 AND state = ?2 AND status = ?3
