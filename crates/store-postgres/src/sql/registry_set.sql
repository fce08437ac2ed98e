INSERT INTO registry (kind, name, version, body)
SELECT kind, name, nextval('registry_version'), body FROM unnest($1::text[], $2::text[], $3::text[]) w(kind, name, body)
ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version, body = excluded.body
