-- Connections have slots by their number, as with counters: two that share one wait for each other, no more.
INSERT INTO dead_kind (slot, pipeline, state, code, pattern, count)
SELECT pg_backend_pid() % 64, pipeline, state, code, pattern, count
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) w(pipeline, state, code, pattern, count)
ON CONFLICT (pipeline, state, code, pattern, slot) DO UPDATE SET count = dead_kind.count + excluded.count
