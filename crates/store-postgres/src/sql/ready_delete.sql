DELETE FROM ready t USING unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[]) w(task, pipeline, rank, id)
WHERE t.task = w.task AND t.pipeline = w.pipeline AND t.rank = w.rank AND t.id = w.id
