-- The newest of each place, then the newest of those.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM (
  SELECT t.id
  FROM unnest($4::text[], $5::text[], $6::text[]) w(pipeline, state, status)
  CROSS JOIN LATERAL (
    SELECT p.id FROM place p
    WHERE p.pipeline = w.pipeline AND p.state = w.state AND p.status = w.status AND p.id <= $1 AND p.id >= $3
    ORDER BY p.id DESC LIMIT $2
  ) t
  ORDER BY t.id DESC LIMIT $2
) n
JOIN submission s ON s.id = n.id ORDER BY n.id DESC
