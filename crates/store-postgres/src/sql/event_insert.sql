-- A previous event without a batch is of this one.
INSERT INTO event (batch, no, prev_batch, prev_no, revision, pipeline, state, labels, leaf, detail)
SELECT currval('batch_no'), no, coalesce(prev_batch, currval('batch_no')), prev_no, revision, pipeline, state,
       CASE WHEN labels IS NOT NULL THEN string_to_array(labels, E'\x01\x04') END, leaf, detail
FROM unnest($1::int[], $2::bigint[], $3::int[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[])
     w(no, prev_batch, prev_no, revision, pipeline, state, labels, leaf, detail)
