-- Positions instead of batches. A previous event that is gone has none.
SELECT p.first_seq + e.no, coalesce(q.first_seq + e.prev_no, 0), e.revision, e.pipeline, e.state,
       array_to_string(e.labels, E'\x01\x04'), e.leaf, e.detail
FROM position p JOIN event e ON e.batch = p.batch LEFT JOIN position q ON q.batch = e.prev_batch
WHERE p.last_seq > $1::bigint AND p.first_seq + e.no > $1
ORDER BY p.last_seq, e.no LIMIT $2
