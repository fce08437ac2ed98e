SELECT id, row_version, event_batch, event_no, row FROM submission WHERE id = ANY($1) ORDER BY id FOR UPDATE
