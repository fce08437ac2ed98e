-- The keys of submissions that have ended, to find them by. Written once, with the end: submits and moves that end nothing
-- pay nothing.
CREATE TABLE IF NOT EXISTS past_key (
  pipeline TEXT NOT NULL,
  key TEXT NOT NULL,
  id BLOB NOT NULL,
  PRIMARY KEY (pipeline, key, id)
) STRICT, WITHOUT ROWID;

-- Dead letters by what went wrong. A row whose count is 0 goes: codes and messages are what workers make up.
CREATE TABLE IF NOT EXISTS dead_kind (
  pipeline TEXT NOT NULL,
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  pattern TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (pipeline, state, code, pattern)
) STRICT, WITHOUT ROWID;
