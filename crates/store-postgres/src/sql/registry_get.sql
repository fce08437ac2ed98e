SELECT w.no::int, r.version, r.body
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY w(kind, name, no)
JOIN registry r ON r.kind = w.kind AND r.name = w.name
