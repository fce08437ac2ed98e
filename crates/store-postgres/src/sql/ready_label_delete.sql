DELETE FROM ready_label t
USING unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::uuid[]) w(task, pipeline, name, value, rank, id)
WHERE t.task = w.task AND t.pipeline = w.pipeline AND t.name = w.name AND t.value = w.value AND t.rank = w.rank AND t.id = w.id
