DELETE FROM answer
WHERE rowid IN (SELECT rowid FROM answer WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
