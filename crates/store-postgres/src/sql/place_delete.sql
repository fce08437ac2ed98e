DELETE FROM place t USING unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) w(pipeline, state, status, id)
WHERE t.pipeline = w.pipeline AND t.state = w.state AND t.status = w.status AND t.id = w.id
