DELETE FROM label WHERE name = ?1 AND value = ?2 AND id = ?3
