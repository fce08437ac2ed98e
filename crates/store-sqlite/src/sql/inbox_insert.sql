INSERT INTO inbox (id, submitter, pipeline, payload, key, priority, not_before, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (id) DO NOTHING
