DELETE FROM parked t USING unnest($1::text[], $2::uuid[]) w(hold, id) WHERE t.hold = w.hold AND t.id = w.id
