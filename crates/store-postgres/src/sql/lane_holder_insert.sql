INSERT INTO lane_holder (pipeline, lane, id) SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[])
