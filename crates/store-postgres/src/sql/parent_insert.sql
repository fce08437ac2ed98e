INSERT INTO parent (parent, id) SELECT * FROM unnest($1::uuid[], $2::uuid[])
