INSERT INTO ready (task, pipeline, rank, id) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[])
