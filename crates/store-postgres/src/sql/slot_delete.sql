DELETE FROM slot t USING unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::uuid[]) w(pipeline, label, value, no, id)
WHERE t.pipeline = w.pipeline AND t.label = w.label AND t.value = w.value AND t.no = w.no AND t.id = w.id
