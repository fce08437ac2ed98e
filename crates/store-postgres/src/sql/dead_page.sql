-- Leaps from key to key and adds up the writer slots of each.
WITH RECURSIVE keys AS (
  (SELECT pipeline, state, code FROM dead_count WHERE (pipeline, state, code) > ($1, $2, $3)
   ORDER BY pipeline, state, code LIMIT 1)
  UNION ALL
  SELECT n.pipeline, n.state, n.code FROM keys k CROSS JOIN LATERAL (
    SELECT d.pipeline, d.state, d.code FROM dead_count d
    WHERE (d.pipeline, d.state, d.code) > (k.pipeline, k.state, k.code)
    ORDER BY d.pipeline, d.state, d.code LIMIT 1
  ) n
), sums AS (
  SELECT k.pipeline, k.state, k.code, s.count FROM keys k CROSS JOIN LATERAL (
    SELECT sum(d.count)::bigint AS count FROM dead_count d
    WHERE d.pipeline = k.pipeline AND d.state = k.state AND d.code = k.code
  ) s
)
SELECT pipeline, state, code, count FROM sums WHERE count > 0 LIMIT $4
