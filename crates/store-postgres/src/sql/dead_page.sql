-- Leaps from key to key and adds up the writer slots of each.
WITH RECURSIVE keys AS (
  (SELECT pipeline, state, code, pattern FROM dead_kind WHERE (pipeline, state, code, pattern) > ($1, $2, $3, $4)
   ORDER BY pipeline, state, code, pattern LIMIT 1)
  UNION ALL
  SELECT n.pipeline, n.state, n.code, n.pattern FROM keys k CROSS JOIN LATERAL (
    SELECT d.pipeline, d.state, d.code, d.pattern FROM dead_kind d
    WHERE (d.pipeline, d.state, d.code, d.pattern) > (k.pipeline, k.state, k.code, k.pattern)
    ORDER BY d.pipeline, d.state, d.code, d.pattern LIMIT 1
  ) n
), sums AS (
  SELECT k.pipeline, k.state, k.code, k.pattern, s.count FROM keys k CROSS JOIN LATERAL (
    SELECT sum(d.count)::bigint AS count FROM dead_kind d
    WHERE d.pipeline = k.pipeline AND d.state = k.state AND d.code = k.code AND d.pattern = k.pattern
  ) s
)
SELECT pipeline, state, code, pattern, count FROM sums WHERE count > 0 LIMIT $5
