-- One that was asked for and not found must not have come in between: `fresh` says so, and then nothing is replaced but
-- what has expired.
INSERT INTO answer (subject, route, key, body, expires_at)
SELECT subject, route, key, body, expires_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) w(subject, route, key, body, expires_at)
ON CONFLICT (subject, route, key) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at
WHERE NOT $6::boolean OR answer.expires_at <= $7
