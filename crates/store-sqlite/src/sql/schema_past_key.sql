-- The keys of submissions that have ended, to find them by. Written once, with the end: submits and moves that end nothing
-- pay nothing.
CREATE TABLE IF NOT EXISTS past_key (
  pipeline TEXT NOT NULL,
  key TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, key, id)
) STRICT, WITHOUT ROWID;
