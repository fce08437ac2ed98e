SELECT w.no::int, s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY w(pipeline, key, no)
CROSS JOIN LATERAL (
  SELECT id FROM key_wait t WHERE t.pipeline = w.pipeline AND t.key = w.key ORDER BY id LIMIT 1
) f
JOIN submission s ON s.id = f.id
