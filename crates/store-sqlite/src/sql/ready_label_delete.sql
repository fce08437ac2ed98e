DELETE FROM ready_label
WHERE task = ?1 AND pipeline = ?2 AND name = ?3 AND value = ?4 AND rank = ?5 AND id = ?6
