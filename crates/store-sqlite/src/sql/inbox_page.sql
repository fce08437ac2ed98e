SELECT id, submitter, pipeline, payload, key, priority, not_before, reason FROM inbox ORDER BY id LIMIT ?1
