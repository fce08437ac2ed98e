INSERT INTO document (submission, name, body) VALUES (?1, ?2, ?3)
ON CONFLICT (submission, name) DO UPDATE SET body = excluded.body
