-- The same cause owes the same thing once.
INSERT INTO owed (submission, revision, no, target, body)
SELECT submission, revision, no, target, body
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) WITH ORDINALITY w(submission, revision, no, target, body, turn)
ORDER BY turn
ON CONFLICT (submission, revision, no) DO NOTHING
