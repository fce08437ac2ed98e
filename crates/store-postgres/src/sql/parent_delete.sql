DELETE FROM parent t USING unnest($1::uuid[], $2::uuid[]) w(parent, id) WHERE t.parent = w.parent AND t.id = w.id
