DELETE FROM parent WHERE parent = ?1 AND id = ?2
