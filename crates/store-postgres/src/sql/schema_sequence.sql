-- Gives every batch that is visible and has none a place in the sequence, and answers where the events of batch `own`
-- begin (null: not visible, or not committed). There is no batch 0: whoever asks for it wants everything looked through.
-- Nor is there one below: whoever asks for that wants only what is new to have its place.
--
-- A position is given only to what everybody can see from then on, in one order, by one at a time. So a reader who has
-- come to a position has seen everything before it, for ever: a batch whose transaction commits late has no position
-- until it is visible, and then gets the next one; one that was rolled back never gets any and nobody waits for it.
-- Nothing here depends on the oldest transaction of the database, which a forgotten session may hold back for hours.
--
-- What has no position is whatever is in `batch`. Looking through all of it would walk past every row that was ever
-- deleted there, while such a session lasts; so a pass looks at numbers after the last one, and at those it has missed
-- before. A missed number is looked for during an hour. A transaction that has one cannot last that long: it is about to
-- commit, and every statement and every pause of its connection is cut off within half a minute. Its age in transaction
-- numbers would not do: the youngest of all is not below any number that a snapshot knows. Should one come later all the
-- same, whoever opens the store, or reads a history and finds it there, looks through everything.
--
-- Causes come before effects: a commit takes its number when it holds its locks, so of two that wrote one submission the
-- first was visible before the second took its number. Whoever sees the second sees the first, and numbers order them.
--
-- Each statement below sees what was committed before it began: all after the lock see what the last holder did.
CREATE FUNCTION sequence_batches(own bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  answer bigint;
  tip_seq bigint;
  tip_high bigint;
BEGIN
  SELECT first_seq INTO answer FROM position WHERE batch = own;
  IF FOUND THEN
    RETURN answer;
  END IF;
  PERFORM FROM gate WHERE no = -1 FOR UPDATE;
  SELECT first_seq INTO answer FROM position WHERE batch = own;
  IF FOUND THEN
    RETURN answer;
  END IF;
  SELECT last_seq, high INTO tip_seq, tip_high FROM position ORDER BY last_seq DESC LIMIT 1;
  tip_seq := coalesce(tip_seq, 0);
  tip_high := coalesce(tip_high, 0);
  WITH visible AS MATERIALIZED (
    (SELECT no, events FROM batch WHERE no > CASE own WHEN 0 THEN 0 ELSE tip_high END ORDER BY no LIMIT 10000)
    UNION
    SELECT b.no, b.events FROM gap g JOIN batch b ON b.no = g.no
  ), placed AS (
    INSERT INTO position (last_seq, first_seq, batch, high)
    SELECT tip_seq + sum(events) OVER by_no, tip_seq + sum(events) OVER by_no - events + 1, no,
           greatest(tip_high, max(no) OVER ())
    FROM visible WINDOW by_no AS (ORDER BY no)
  ), taken AS (
    DELETE FROM batch b USING visible v WHERE b.no = v.no
  ), missing AS (
    INSERT INTO gap (no, noticed_at)
    SELECT n, clock_timestamp()
    FROM generate_series(tip_high + 1, (SELECT max(no) FROM visible)) n
    WHERE NOT EXISTS (SELECT FROM visible v WHERE v.no = n)
  )
  DELETE FROM gap g
  WHERE g.noticed_at < clock_timestamp() - interval '1 hour' OR EXISTS (SELECT FROM visible v WHERE v.no = g.no);
  SELECT first_seq INTO answer FROM position WHERE batch = own;
  RETURN answer;
END
$$;
