DELETE FROM slot WHERE pipeline = ?1 AND label = ?2 AND value = ?3 AND no = ?4 AND id = ?5
