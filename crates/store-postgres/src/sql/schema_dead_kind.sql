-- Dead letters by what went wrong, per writer slot. Messages are what workers make up: keys whose slots add up to nothing are
-- cleared away.
CREATE TABLE dead_kind (
  pipeline text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  code text COLLATE "C" NOT NULL,
  pattern text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (pipeline, state, code, pattern, slot)
);
