-- Back along the series, as a history is walked. What has no detail is no event.
WITH RECURSIVE walk (batch, no, prev_batch, prev_no, revision) AS (
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.revision
  FROM tip t JOIN event e ON e.batch = t.batch AND e.no = t.no
  WHERE t.submission = $1 AND e.revision >= $2
  UNION ALL
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.revision
  FROM walk w JOIN event e ON e.batch = w.prev_batch AND e.no = w.prev_no
  WHERE e.revision >= $2
)
SELECT p.first_seq + w.no, e.leaf
FROM walk w JOIN event e ON e.batch = w.batch AND e.no = w.no JOIN position p ON p.batch = w.batch
WHERE w.revision = $2 AND length(e.detail) = 0
