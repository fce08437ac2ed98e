-- What was submitted in a transaction of its own and is not decided yet. Releases before this one make do without.
CREATE TABLE IF NOT EXISTS inbox (
  id BLOB PRIMARY KEY,
  submitter TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  payload TEXT NOT NULL,
  key TEXT,
  priority INTEGER,
  not_before INTEGER,
  reason TEXT
) STRICT, WITHOUT ROWID;
