SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM late t JOIN submission s ON s.id = t.id
WHERE t.pipeline = $1 AND t.at <= $2 AND (t.at, t.id) > ($3, $4) ORDER BY t.at, t.id LIMIT $5
