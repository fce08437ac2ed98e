-- Rows that are about to be written and were not locked when they were taken. Waiting here could be for somebody who
-- waits for us.
SELECT id, row_version, event_batch, event_no, row FROM submission WHERE id = ANY($1) ORDER BY id FOR UPDATE NOWAIT
