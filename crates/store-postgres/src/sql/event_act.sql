-- Back along the series, as a history is walked. What has no detail is no event.
-- No plain joins: where a partition is still empty, its index would be read without the key, and the plan outlives that.
WITH RECURSIVE walk (batch, no, prev_batch, prev_no, revision) AS (
  SELECT t.batch, t.no, e.prev_batch, e.prev_no, e.revision
  FROM tip t
  CROSS JOIN LATERAL (
    SELECT prev_batch, prev_no, revision FROM event WHERE batch = t.batch AND no = t.no OFFSET 0
  ) e
  WHERE t.submission = $1 AND e.revision >= $2
  UNION ALL
  SELECT w.prev_batch, w.prev_no, e.prev_batch, e.prev_no, e.revision
  FROM walk w
  CROSS JOIN LATERAL (
    SELECT prev_batch, prev_no, revision FROM event WHERE batch = w.prev_batch AND no = w.prev_no OFFSET 0
  ) e
  WHERE e.revision >= $2
)
SELECT p.first_seq + w.no, e.leaf
FROM walk w
CROSS JOIN LATERAL (SELECT leaf FROM event WHERE batch = w.batch AND no = w.no AND length(detail) = 0 OFFSET 0) e
JOIN position p ON p.batch = w.batch
WHERE w.revision = $2
