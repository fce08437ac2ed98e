SELECT t.submission, coalesce(p.first_seq + t.no, 0), t.revision
FROM tip t LEFT JOIN position p ON p.batch = t.batch
WHERE t.submission > $1::uuid ORDER BY t.submission LIMIT $2
