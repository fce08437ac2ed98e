-- The size of a payload is known without reading it.
SELECT id, octet_length(payload) FROM inbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
