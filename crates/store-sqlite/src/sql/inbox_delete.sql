DELETE FROM inbox WHERE id = ?1
