INSERT INTO batch (no, events) VALUES (nextval('batch_no'), $1) RETURNING no
