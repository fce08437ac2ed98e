SELECT e.leaf
FROM position p JOIN event e ON e.batch = p.batch
WHERE p.last_seq > $1 AND p.first_seq <= $2 AND p.first_seq + e.no > $1 AND p.first_seq + e.no <= $2
ORDER BY p.last_seq, e.no
