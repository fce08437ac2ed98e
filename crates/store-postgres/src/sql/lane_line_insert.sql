INSERT INTO lane_line (pipeline, lane, since, tie, id)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::uuid[])
