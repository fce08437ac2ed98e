-- Without an event of this commit, the newest of an earlier life under the same id.
INSERT INTO submission (id, row_version, event_batch, event_no, row)
SELECT id, 1, CASE WHEN is_new THEN currval('batch_no') ELSE event_batch END, event_no, row
FROM unnest($1::uuid[], $2::boolean[], $3::bigint[], $4::int[], $5::text[]) w(id, is_new, event_batch, event_no, row)
