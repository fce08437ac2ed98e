-- Bodies that grow with what people send (documents, event details, answers) are kept out of the tables that are
-- written at every move. Index tables hold only keys and are written by insert and delete alone.

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `row` is the submission as JSON; `last_seq` its newest event, 0 before the first.
CREATE TABLE submission (
  id BLOB PRIMARY KEY,
  row_version INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  row TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE document (
  submission BLOB NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (submission, name)
) STRICT, WITHOUT ROWID;

-- Appended at the end and retired at the beginning. `prev` is the submission's event before this one, 0 for its first: a history is walked back along it.
-- An index by submission instead would be written at random places at every move, which costs 30 % of the moves.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  prev INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  -- What feeds are filtered by, as the event's commit left it: the pipeline of the submission, the state of the leaf,
  -- the labels as JSON. Null where there is no row, or no label.
  pipeline TEXT,
  state TEXT NOT NULL,
  labels TEXT,
  leaf BLOB NOT NULL,
  -- Empty: it is no submission's event but an act, read by the audit log alone.
  detail BLOB NOT NULL
) STRICT;

-- The audit log's hashes, 256 of 32 bytes each in a full tile. The one at the end of each level grows.
CREATE TABLE tile (
  level INTEGER NOT NULL,
  no INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  PRIMARY KEY (level, no)
) STRICT;

-- Where the events of a submission end that has no row: events outlive rows.
CREATE TABLE tip (
  submission BLOB PRIMARY KEY,
  seq INTEGER NOT NULL,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The pipeline comes before the rank so that a claim for one pipeline does not walk past the rows of another.
CREATE TABLE ready (
  task TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  rank INTEGER NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (task, pipeline, rank, id)
) STRICT, WITHOUT ROWID;

-- The same queue once for each label of a waiting row, for claims that ask for a label's value.
CREATE TABLE ready_label (
  task TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  rank INTEGER NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (task, pipeline, name, value, rank, id)
) STRICT, WITHOUT ROWID;

-- Those of submissions that have ended are idle, and lie apart: a million of them are not in the way of the others.
CREATE TABLE timer (
  idle INTEGER NOT NULL,
  at INTEGER NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (idle, at, id)
) STRICT, WITHOUT ROWID;

-- `status` also says how far the investigation of an end has come: `failed:open`, `failed:acknowledged`.
CREATE TABLE place (
  pipeline TEXT NOT NULL,
  state TEXT NOT NULL,
  status TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, state, status, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE open_key (
  pipeline TEXT NOT NULL,
  key TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_wait (
  pipeline TEXT NOT NULL,
  key TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, key, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lane_holder (
  pipeline TEXT NOT NULL,
  lane TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, lane)
) STRICT, WITHOUT ROWID;

-- In the order of their turn.
CREATE TABLE lane_line (
  pipeline TEXT NOT NULL,
  lane TEXT NOT NULL,
  since INTEGER NOT NULL,
  tie TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, lane, since, tie, id)
) STRICT, WITHOUT ROWID;

-- For pages of a lane, which are in the order of ids.
CREATE UNIQUE INDEX lane_line_id ON lane_line (pipeline, lane, id);

CREATE TABLE parked (
  hold TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (hold, id)
) STRICT, WITHOUT ROWID;

-- What leases take of limits: who has which place of each.
CREATE TABLE slot (
  pipeline TEXT NOT NULL,
  label TEXT NOT NULL,
  value TEXT NOT NULL,
  no INTEGER NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, label, value, no)
) STRICT, WITHOUT ROWID;

-- When the first service level of a submission is missed, or was.
CREATE TABLE late (
  pipeline TEXT NOT NULL,
  at INTEGER NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, at, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (name, value, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE parent (
  parent BLOB NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (parent, id)
) STRICT, WITHOUT ROWID;

-- `seq` is the order in which they are pulled; `target` whom it concerns, as JSON.
CREATE TABLE owed (
  seq INTEGER PRIMARY KEY,
  submission BLOB NOT NULL,
  revision INTEGER NOT NULL,
  no INTEGER NOT NULL,
  target TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (submission, revision, no)
) STRICT;

CREATE TABLE answer (
  subject TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (subject, route, key)
) STRICT;

CREATE INDEX answer_expiry ON answer (expires_at);

CREATE TABLE registry (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
  pipeline TEXT NOT NULL,
  state TEXT NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (pipeline, state, status)
) STRICT, WITHOUT ROWID;
