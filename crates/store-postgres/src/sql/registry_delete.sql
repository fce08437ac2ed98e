DELETE FROM registry t USING unnest($1::text[], $2::text[]) w(kind, name) WHERE t.kind = w.kind AND t.name = w.name
