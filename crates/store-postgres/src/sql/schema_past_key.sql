-- The keys of submissions that have ended, to find them by. Written once, with the end: submits and moves that end nothing
-- pay nothing.
CREATE TABLE past_key (
  pipeline text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (pipeline, key, id)
);
