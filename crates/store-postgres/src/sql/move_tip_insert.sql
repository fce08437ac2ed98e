INSERT INTO tip (submission, batch, no, revision)
SELECT w.submission, coalesce(q.batch, 0), coalesce(w.seq - q.first_seq, 0), w.revision
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) w(submission, seq, revision)
LEFT JOIN LATERAL (
  SELECT batch, first_seq FROM position WHERE last_seq >= w.seq ORDER BY last_seq LIMIT 1
) q ON w.seq > 0 AND q.first_seq <= w.seq
