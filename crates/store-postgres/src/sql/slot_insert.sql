INSERT INTO slot (pipeline, label, value, no, id) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::uuid[])
