-- In the order given, until there is enough: what comes after is not even read.
WITH sized AS MATERIALIZED (
  SELECT w.id, w.no, coalesce((SELECT sum(octet_length(body)) FROM document WHERE submission = w.id), 0) AS bytes
  FROM unnest($1::uuid[]) WITH ORDINALITY w(id, no)
), running AS MATERIALIZED (
  SELECT id, sum(bytes) OVER (ORDER BY no) - bytes AS before FROM sized
)
SELECT d.submission, d.name, d.body FROM running r JOIN document d ON d.submission = r.id WHERE r.before < $2::bigint
