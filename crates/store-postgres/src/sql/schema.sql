-- Names are compared and ordered by their bytes, whatever the database's language: hence COLLATE "C" throughout.
--
-- The row table is written at every move and has no index on anything that changes, so that every update stays on its
-- page (HOT); pages are left half empty, because neighbours tend to move in one commit. Index tables hold only keys and are written by insert and delete alone. A row's index entries are written
-- only by whoever holds the lock on the row, so they need no locks of their own.

CREATE TABLE meta (
  name text COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
);

-- `row` is the submission as JSON; `event_batch` and `event_no` name its newest event, 0 before the first.
CREATE TABLE submission (
  id uuid PRIMARY KEY,
  row_version bigint NOT NULL,
  event_batch bigint NOT NULL,
  event_no integer NOT NULL,
  row text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE document (
  submission uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (submission, name)
);

-- One number a commit with events, taken when all its locks are held.
CREATE SEQUENCE batch_no;

-- Commits whose events have no position yet; they go when they get one.
CREATE TABLE batch (
  no bigint PRIMARY KEY,
  events integer NOT NULL
);

-- Where the events of a batch are in the sequence of all: given by `sequence_batches` and never changed. `high` is the
-- greatest batch number that had been looked at.
CREATE TABLE position (
  last_seq bigint PRIMARY KEY,
  first_seq bigint NOT NULL,
  batch bigint NOT NULL UNIQUE,
  high bigint NOT NULL
);

-- Batch numbers below `high` that were not visible: their transactions may still be under way.
CREATE TABLE gap (
  no bigint PRIMARY KEY,
  noticed_at timestamptz NOT NULL
);

-- `no` counts from 0 within the batch; an event's position is its batch's first plus that. `prev_batch` and `prev_no` name the
-- submission's event before this one, 0 for its first: a history is walked back along them, where an index by
-- submission would be written at random places at every move.
CREATE TABLE event (
  batch bigint NOT NULL,
  no integer NOT NULL,
  prev_batch bigint NOT NULL,
  prev_no integer NOT NULL,
  revision bigint NOT NULL,
  -- What feeds are filtered by, as the event's commit left it. Null where there is no row, or no label.
  pipeline text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  labels text[] COLLATE "C",
  leaf bytea NOT NULL,
  -- Empty: it is no submission's event but an act, read by the audit log alone.
  detail bytea NOT NULL,
  PRIMARY KEY (batch, no)
) PARTITION BY RANGE (batch);

-- The audit log's hashes, 256 of 32 bytes each in a full tile. The one at the end of each level grows.
CREATE TABLE tile (
  level bigint NOT NULL,
  no bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, no)
);

-- Where the events of a submission end that has no row: events outlive rows.
CREATE TABLE tip (
  submission uuid PRIMARY KEY,
  batch bigint NOT NULL,
  no integer NOT NULL,
  revision bigint NOT NULL
);

-- The pipeline comes before the rank so that a claim for one pipeline does not walk past the rows of another.
CREATE TABLE ready (
  task text COLLATE "C" NOT NULL,
  pipeline text COLLATE "C" NOT NULL,
  rank bigint NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (task, pipeline, rank, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- The same queue once for each label of a waiting row, for claims that ask for a label's value.
CREATE TABLE ready_label (
  task text COLLATE "C" NOT NULL,
  pipeline text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  rank bigint NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (task, pipeline, name, value, rank, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Those that have ended are looked at apart: a million to clear away delay nobody.
CREATE TABLE timer (
  idle boolean NOT NULL,
  at bigint NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (idle, at, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE late (
  pipeline text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, at, id)
);

-- `status` also says how far the investigation of an end has come: `failed:open`, `failed:acknowledged`.
CREATE TABLE place (
  pipeline text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, state, status, id)
);

CREATE TABLE open_key (
  pipeline text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, key)
);

CREATE TABLE key_wait (
  pipeline text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, key, id)
);

CREATE TABLE lane_holder (
  pipeline text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, lane)
);

-- In the order of their turn.
CREATE TABLE lane_line (
  pipeline text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  tie text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, lane, since, tie, id)
);

-- For pages of a lane, which are in the order of ids.
CREATE UNIQUE INDEX lane_line_id ON lane_line (pipeline, lane, id);

CREATE TABLE slot (
  pipeline text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  no integer NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, label, value, no)
);

CREATE TABLE parked (
  hold text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (hold, id)
);

CREATE TABLE label (
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (name, value, id)
);

CREATE TABLE parent (
  parent uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (parent, id)
);

-- `seq` is the order in which they are pulled; `target` whom it concerns, as JSON.
CREATE TABLE owed (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  submission uuid NOT NULL,
  revision bigint NOT NULL,
  no bigint NOT NULL,
  target text NOT NULL,
  body text NOT NULL,
  UNIQUE (submission, revision, no)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE answer (
  subject text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body text NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (subject, route, key)
);

CREATE INDEX answer_expiry ON answer (expires_at);

-- Versions are never used twice, not even by an entry that was removed and made again.
CREATE SEQUENCE registry_version;

CREATE TABLE registry (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (kind, name)
);

-- One row for each place and writer slot: writers do not queue for each other's. A single one may be below zero, the sum
-- over slots never is.
CREATE TABLE counter (
  slot integer NOT NULL,
  pipeline text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (slot, pipeline, state, status)
) WITH (fillfactor = 50);

-- Rows to lock and never to change, so that nothing is left behind by locking: `gate.rs` says what each is for.
CREATE TABLE gate (
  no integer PRIMARY KEY
);
