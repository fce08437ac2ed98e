DELETE FROM answer a
USING (SELECT subject, route, key FROM answer WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) o
WHERE a.subject = o.subject AND a.route = o.route AND a.key = o.key
