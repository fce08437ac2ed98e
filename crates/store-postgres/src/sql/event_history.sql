-- Back from the newest event to the oldest that is wanted, by numbers alone; then the events of the page. An event
-- whose batch has no position yet comes without one.
WITH RECURSIVE walk (batch, no, prev_batch, prev_no, revision) AS (
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.revision
  FROM (
    SELECT event_batch AS batch, event_no AS no FROM submission WHERE id = $1
    UNION ALL
    SELECT batch, no FROM tip WHERE submission = $1 AND NOT EXISTS (SELECT FROM submission WHERE id = $1)
  ) t
  JOIN event e ON e.batch = t.batch AND e.no = t.no
  WHERE e.revision > $2
  UNION ALL
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.revision
  FROM walk w JOIN event e ON e.batch = w.prev_batch AND e.no = w.prev_no
  WHERE e.revision > $2
), page AS MATERIALIZED (
  SELECT batch, no, revision FROM walk ORDER BY revision LIMIT $3
)
SELECT seq, leaf, detail FROM (
SELECT p.first_seq + w.no AS seq, e.leaf, e.detail, w.revision,
  sum(octet_length(e.leaf) + octet_length(e.detail)) OVER (ORDER BY w.revision ROWS UNBOUNDED PRECEDING)
    - octet_length(e.leaf) - octet_length(e.detail) AS before
FROM page w
-- Not a plain join: where a partition is still empty, its index would be read without the key, and the plan outlives that.
CROSS JOIN LATERAL (SELECT leaf, detail FROM event WHERE batch = w.batch AND no = w.no AND length(detail) > 0 OFFSET 0) e
LEFT JOIN position p ON p.batch = w.batch
ORDER BY w.revision
) shown WHERE before < $4 ORDER BY revision
