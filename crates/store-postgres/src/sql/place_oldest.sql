SELECT w.pipeline, w.state, t.id
FROM unnest($1::text[], $2::text[]) w(pipeline, state)
CROSS JOIN LATERAL (
  SELECT p.id FROM place p
  WHERE p.pipeline = w.pipeline AND p.state = w.state AND p.status = 'open'
  ORDER BY p.id LIMIT 1
) t
