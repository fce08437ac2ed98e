DELETE FROM ready WHERE task = ?1 AND pipeline = ?2 AND rank = ?3 AND id = ?4
