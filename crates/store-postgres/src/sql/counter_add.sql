-- Connections have slots by their number: two that share one wait for each other, no more.
INSERT INTO counter (slot, pipeline, state, status, count)
SELECT pg_backend_pid() % 64, pipeline, state, status, count
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) w(pipeline, state, status, count)
ON CONFLICT (slot, pipeline, state, status) DO UPDATE SET count = counter.count + excluded.count
