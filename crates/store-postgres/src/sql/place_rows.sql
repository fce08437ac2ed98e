-- A page of the rows that are open in a state, by id.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM place p JOIN submission s ON s.id = p.id
WHERE p.pipeline = $1 AND p.state = $2 AND p.status = 'open' AND p.id > $3 ORDER BY p.id LIMIT $4
