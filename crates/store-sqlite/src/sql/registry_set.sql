INSERT INTO registry (kind, name, body) VALUES (?1, ?2, ?3)
ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body
