-- Connections have slots by their number, as with counters: two that share one wait for each other, no more.
INSERT INTO dead_count (slot, pipeline, state, code, count)
SELECT pg_backend_pid() % 64, pipeline, state, code, count
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) w(pipeline, state, code, count)
ON CONFLICT (pipeline, state, code, slot) DO UPDATE SET count = dead_count.count + excluded.count
