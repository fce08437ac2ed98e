DELETE FROM timer t USING unnest($1::boolean[], $2::bigint[], $3::uuid[]) w(idle, at, id)
WHERE t.idle = w.idle AND t.at = w.at AND t.id = w.id
