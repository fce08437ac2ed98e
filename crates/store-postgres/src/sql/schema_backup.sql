-- The times of backups, told by whoever makes them.
CREATE TABLE backup (
  made_at timestamptz PRIMARY KEY DEFAULT now()
);
