INSERT INTO answer (subject, route, key, body, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (subject, route, key) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at
