-- On every connection. A statement, a wait for a lock and a pause within a transaction all end by themselves, so that
-- nothing of ours can hold up others for long, a frozen process included.
SET statement_timeout = '30s';
SET lock_timeout = '2s';
SET idle_in_transaction_session_timeout = '10s';
SET default_transaction_isolation = 'read committed';
SET client_min_messages = warning;
-- Acknowledged means on disk, whatever the server's default is.
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
-- Plans are made once and know nothing of what the tables held then: a queue that was empty when it was last looked at
-- must not be scanned when it is full. So whatever is not along an index is off.
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET jit = off;
