DELETE FROM owed t USING unnest($1::uuid[], $2::bigint[], $3::bigint[]) w(submission, revision, no)
WHERE t.submission = w.submission AND t.revision = w.revision AND t.no = w.no
