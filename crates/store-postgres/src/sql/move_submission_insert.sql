INSERT INTO submission (id, row_version, event_batch, event_no, row)
SELECT w.id, w.row_version, coalesce(q.batch, 0), coalesce(w.last_seq - q.first_seq, 0), w.row
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[]) w(id, row_version, last_seq, row)
LEFT JOIN LATERAL (
  SELECT batch, first_seq FROM position WHERE last_seq >= w.last_seq ORDER BY last_seq LIMIT 1
) q ON w.last_seq > 0 AND q.first_seq <= w.last_seq
