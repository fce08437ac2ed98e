-- Its version was checked under the row's lock. No new event: the newest stays.
UPDATE submission s
SET row_version = s.row_version + 1, row = w.row,
    event_batch = CASE WHEN w.event_no IS NULL THEN s.event_batch ELSE currval('batch_no') END,
    event_no = coalesce(w.event_no, s.event_no)
FROM unnest($1::uuid[], $2::int[], $3::text[]) w(id, event_no, row) WHERE s.id = w.id
