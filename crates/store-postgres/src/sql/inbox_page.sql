SELECT id, submitter, pipeline, payload, key, priority, not_before, reason FROM inbox
WHERE id = ANY ($1::uuid[]) ORDER BY id
