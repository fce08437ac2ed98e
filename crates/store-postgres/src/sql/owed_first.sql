SELECT submission, revision, no, target, body FROM owed ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED
