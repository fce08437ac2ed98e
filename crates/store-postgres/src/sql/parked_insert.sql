INSERT INTO parked (hold, id) SELECT * FROM unnest($1::text[], $2::uuid[])
