-- Takes the slots of keys and puts back what they add up to, in one. What somebody is writing meanwhile is left as it is.
WITH gone AS (
  DELETE FROM dead_kind d USING (
    SELECT k.pipeline, k.state, k.code, k.pattern, k.slot
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) w(pipeline, state, code, pattern)
    JOIN dead_kind k ON k.pipeline = w.pipeline AND k.state = w.state AND k.code = w.code AND k.pattern = w.pattern
    FOR UPDATE OF k SKIP LOCKED
  ) o
  WHERE d.pipeline = o.pipeline AND d.state = o.state AND d.code = o.code AND d.pattern = o.pattern AND d.slot = o.slot
  RETURNING d.pipeline, d.state, d.code, d.pattern, d.count
)
INSERT INTO dead_kind (slot, pipeline, state, code, pattern, count)
SELECT pg_backend_pid() % 64, pipeline, state, code, pattern, sum(count)::bigint FROM gone
GROUP BY pipeline, state, code, pattern HAVING sum(count) <> 0
ON CONFLICT (pipeline, state, code, pattern, slot) DO UPDATE SET count = dead_kind.count + excluded.count
