INSERT INTO timer (idle, at, id) SELECT * FROM unnest($1::boolean[], $2::bigint[], $3::uuid[])
