DELETE FROM late t USING unnest($1::text[], $2::bigint[], $3::uuid[]) w(pipeline, at, id)
WHERE t.pipeline = w.pipeline AND t.at = w.at AND t.id = w.id
