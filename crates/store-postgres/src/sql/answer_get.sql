SELECT w.no::int, a.body, a.expires_at
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY w(subject, route, key, no)
JOIN answer a ON a.subject = w.subject AND a.route = w.route AND a.key = w.key
