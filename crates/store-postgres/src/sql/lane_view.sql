-- Who holds each lane and who is first in line, as of one moment.
WITH w AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::text[]) WITH ORDINALITY w(pipeline, lane, no))
SELECT w.no::int, true, s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM w JOIN lane_holder t ON t.pipeline = w.pipeline AND t.lane = w.lane JOIN submission s ON s.id = t.id
UNION ALL
SELECT w.no::int, false, s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM w
CROSS JOIN LATERAL (
  SELECT id FROM lane_line t WHERE t.pipeline = w.pipeline AND t.lane = w.lane ORDER BY since, tie, id LIMIT 1
) f
JOIN submission s ON s.id = f.id
