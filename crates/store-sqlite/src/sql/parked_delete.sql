DELETE FROM parked WHERE hold = ?1 AND id = ?2
