-- Updates nothing when another commit came first. No new event: the newest stays.
UPDATE submission SET row_version = ?2 + 1, last_seq = coalesce(?3, last_seq), row = ?4
WHERE id = ?1 AND row_version = ?2
