-- Those that are about to be paid and were not taken.
SELECT o.seq FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) w(submission, revision, no)
JOIN owed o ON o.submission = w.submission AND o.revision = w.revision AND o.no = w.no
ORDER BY o.seq FOR UPDATE OF o NOWAIT
