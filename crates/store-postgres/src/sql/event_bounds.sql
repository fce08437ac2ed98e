-- The last position that is retired, the newest of all, and whether a batch waits for its position.
SELECT m.value, greatest(m.value, coalesce(p.last_seq, 0)),
       EXISTS (SELECT FROM batch WHERE no > coalesce(p.high, 0))
       OR EXISTS (SELECT FROM gap g JOIN batch b ON b.no = g.no)
FROM meta m LEFT JOIN (SELECT last_seq, high FROM position ORDER BY last_seq DESC LIMIT 1) p ON true
WHERE m.name = 'retired'
