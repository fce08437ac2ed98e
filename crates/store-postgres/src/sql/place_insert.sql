INSERT INTO place (pipeline, state, status, id) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[])
