INSERT INTO past_key (pipeline, key, id) SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])
ON CONFLICT (pipeline, key, id) DO NOTHING
