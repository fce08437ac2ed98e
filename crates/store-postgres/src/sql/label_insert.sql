INSERT INTO label (name, value, id) SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])
