INSERT INTO document (submission, name, body)
SELECT submission, name, body FROM unnest($1::uuid[], $2::text[], $3::text[]) w(submission, name, body)
ON CONFLICT (submission, name) DO UPDATE SET body = excluded.body
