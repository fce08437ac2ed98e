SELECT w.no::int, p.id
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY w(hold, max, no)
CROSS JOIN LATERAL (SELECT id FROM parked t WHERE t.hold = w.hold ORDER BY id LIMIT w.max) p
ORDER BY w.no, p.id
