INSERT INTO late (pipeline, at, id) SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[])
