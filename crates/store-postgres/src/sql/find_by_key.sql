-- Whoever holds the key, waits for it or ended with it, in each pipeline that can matter. The two lists of what has not ended
-- and what has may name one row twice while an older release is at work beside this one.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM (
  SELECT t.id
  FROM unnest($10::text[]) q(pipeline)
  CROSS JOIN LATERAL (
    SELECT k.id FROM open_key k WHERE k.pipeline = q.pipeline AND k.key = $11
    UNION
    SELECT w.id FROM key_wait w WHERE w.pipeline = q.pipeline AND w.key = $11 AND w.id <= $1 AND w.id >= $3
    UNION
    SELECT e.id FROM past_key e WHERE e.pipeline = q.pipeline AND e.key = $11 AND e.id <= $1 AND e.id >= $3
  ) t
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
) n
JOIN submission s ON s.id = n.id ORDER BY n.id DESC
