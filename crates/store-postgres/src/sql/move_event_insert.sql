-- Into one batch, whose number and first position are given. The event before is in it, or is found by its position.
INSERT INTO event (batch, no, prev_batch, prev_no, revision, pipeline, state, labels, leaf, detail)
SELECT $1::bigint, w.seq - $2::bigint,
       CASE WHEN w.prev >= $2 THEN $1 ELSE coalesce(q.batch, 0) END,
       CASE WHEN w.prev >= $2 THEN w.prev - $2 ELSE coalesce(w.prev - q.first_seq, 0) END,
       w.revision, w.pipeline, w.state,
       CASE WHEN w.labels IS NOT NULL THEN string_to_array(w.labels, E'\x01\x04') END, w.leaf, w.detail
FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::bytea[])
     w(seq, prev, revision, pipeline, state, labels, leaf, detail)
LEFT JOIN LATERAL (
  SELECT batch, first_seq FROM position WHERE last_seq >= w.prev ORDER BY last_seq LIMIT 1
) q ON w.prev > 0 AND q.first_seq <= w.prev
