INSERT INTO tip (submission, seq, revision) VALUES (?1, ?2, ?3)
ON CONFLICT (submission) DO UPDATE SET seq = excluded.seq, revision = excluded.revision
