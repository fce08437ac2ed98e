DELETE FROM registry WHERE kind = ?1 AND name = ?2
