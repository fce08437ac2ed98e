DELETE FROM label t USING unnest($1::text[], $2::text[], $3::uuid[]) w(name, value, id)
WHERE t.name = w.name AND t.value = w.value AND t.id = w.id
