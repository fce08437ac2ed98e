INSERT INTO inbox (id, submitter, pipeline, payload, key, priority, not_before, reason)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[])
ON CONFLICT (id) DO NOTHING
