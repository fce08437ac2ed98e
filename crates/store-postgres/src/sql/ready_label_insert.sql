INSERT INTO ready_label (task, pipeline, name, value, rank, id)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::uuid[])
