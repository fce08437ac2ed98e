SELECT w.no::int, t.no
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY w(pipeline, label, value, no)
JOIN slot t ON t.pipeline = w.pipeline AND t.label = w.label AND t.value = w.value
