-- The transaction's number is known before the batch's is taken: `schema_sequence.sql` says why.
WITH own AS MATERIALIZED (SELECT pg_current_xact_id() AS xid)
INSERT INTO batch (no, events, xid) SELECT nextval('batch_no'), $1, xid FROM own RETURNING no
