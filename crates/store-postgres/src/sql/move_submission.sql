SELECT s.id, s.row_version, coalesce(p.first_seq + s.event_no, 0), s.row
FROM submission s LEFT JOIN position p ON p.batch = s.event_batch
WHERE s.id > $1::uuid ORDER BY s.id LIMIT $2
