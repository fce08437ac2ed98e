-- The same cause owes the same thing once.
INSERT INTO owed (submission, revision, no, body) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (submission, revision, no) DO NOTHING
