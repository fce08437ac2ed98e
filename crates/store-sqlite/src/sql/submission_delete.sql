-- Deletes nothing when another commit came first.
DELETE FROM submission WHERE id = ?1 AND row_version = ?2 RETURNING last_seq
