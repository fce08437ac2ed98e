SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM submission s WHERE s.id <= $1 AND s.id >= $3 ORDER BY s.id DESC LIMIT $2
