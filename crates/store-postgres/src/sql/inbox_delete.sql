DELETE FROM inbox i USING unnest($1::uuid[]) w (id) WHERE i.id = w.id
