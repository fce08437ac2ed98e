-- The same cause owes the same thing once.
INSERT INTO owed (submission, revision, no, target, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (submission, revision, no) DO NOTHING
