DELETE FROM past_key t USING unnest($1::text[], $2::text[], $3::uuid[]) w(pipeline, key, id)
WHERE t.pipeline = w.pipeline AND t.key = w.key AND t.id = w.id
