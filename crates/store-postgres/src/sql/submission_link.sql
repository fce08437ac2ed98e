-- Events that came without a change of their row.
UPDATE submission s SET event_batch = currval('batch_no'), event_no = w.event_no
FROM unnest($1::uuid[], $2::int[]) w(id, event_no) WHERE s.id = w.id
