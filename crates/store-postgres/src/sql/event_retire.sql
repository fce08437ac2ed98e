-- As far as asked for, a bounded number at once. The newest batch's position stays: the next ones follow it.
WITH newest AS MATERIALIZED (
  SELECT coalesce(max(last_seq), 0) AS seq FROM position
), bound AS MATERIALIZED (
  UPDATE meta m SET value = greatest(m.value, least($1, m.value + $2, n.seq)) FROM newest n WHERE m.name = 'retired'
  RETURNING m.value
), gone AS (
  DELETE FROM event e USING bound b, position p
  WHERE p.first_seq <= b.value AND e.batch = p.batch AND p.first_seq + e.no <= b.value
)
DELETE FROM position p USING bound b, newest n WHERE p.last_seq <= b.value AND p.last_seq < n.seq
