INSERT INTO tip (submission, batch, no, revision)
SELECT submission, coalesce(batch, currval('batch_no')), no, revision
FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[]) w(submission, batch, no, revision)
ON CONFLICT (submission) DO UPDATE SET batch = excluded.batch, no = excluded.no, revision = excluded.revision
