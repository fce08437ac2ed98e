-- Whoever holds the key in each pipeline that can matter.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM unnest($10::text[]) q(pipeline) JOIN open_key t ON t.pipeline = q.pipeline AND t.key = $11 JOIN submission s ON s.id = t.id
WHERE t.id <= $1 AND t.id >= $3
  AND ($9::uuid IS NULL OR EXISTS (SELECT FROM parent c WHERE c.parent = $9 AND c.id = t.id))
  AND ($4::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($4::text[], $5::text[], $6::text[]) w(pipeline, state, status)
    JOIN place p ON p.pipeline = w.pipeline AND p.state = w.state AND p.status = w.status AND p.id = t.id
  ))
  AND NOT EXISTS (
    SELECT FROM unnest($7::text[], $8::text[]) w(name, value)
    WHERE NOT EXISTS (SELECT FROM label l WHERE l.name = w.name AND l.value = w.value AND l.id = t.id)
  )
  AND ($12::text IS NULL
    OR EXISTS (SELECT FROM lane_holder h WHERE h.pipeline = q.pipeline AND h.lane = $12 AND h.id = t.id)
    OR EXISTS (SELECT FROM lane_line l WHERE l.pipeline = q.pipeline AND l.lane = $12 AND l.id = t.id))
ORDER BY t.id DESC LIMIT $2
