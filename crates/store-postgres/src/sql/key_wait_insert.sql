INSERT INTO key_wait (pipeline, key, id) SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])
