SELECT submission, revision, no, body FROM owed ORDER BY seq LIMIT ?1
