-- Everything a submission's events before this commit keep here.
WITH RECURSIVE walk (batch, no, prev_batch, prev_no, detail) AS (
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.detail
  FROM submission s JOIN event e ON e.batch = s.event_batch AND e.no = s.event_no
  WHERE s.id = ANY($1)
  UNION ALL
  SELECT e.batch, e.no, e.prev_batch, e.prev_no, e.detail
  FROM walk w JOIN event e ON e.batch = w.prev_batch AND e.no = w.prev_no
)
SELECT batch, no, detail FROM walk WHERE length(detail) > 0
