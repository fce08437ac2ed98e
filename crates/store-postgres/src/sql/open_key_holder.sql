SELECT w.no::int, s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY w(pipeline, key, no)
JOIN open_key t ON t.pipeline = w.pipeline AND t.key = w.key
JOIN submission s ON s.id = t.id
