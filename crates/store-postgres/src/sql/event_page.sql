-- Up to the one that reaches the bound of bytes, so that what is not shown is not sent. Sizes are known without reading the texts.
SELECT seq, leaf, detail FROM (
SELECT p.first_seq + e.no AS seq, e.leaf, e.detail,
  sum(octet_length(e.leaf) + octet_length(e.detail)) OVER (ORDER BY p.last_seq, e.no ROWS UNBOUNDED PRECEDING)
    - octet_length(e.leaf) - octet_length(e.detail) AS before
FROM position p JOIN event e ON e.batch = p.batch
WHERE p.last_seq > $1 AND p.first_seq <= $2 AND p.first_seq + e.no > $1 AND p.first_seq + e.no <= $2
  AND length(e.detail) > 0 AND ($3::text IS NULL OR e.pipeline = $3) AND ($4::text IS NULL OR e.state = $4)
  AND ($5::text[] IS NULL OR e.labels @> $5)
ORDER BY p.last_seq, e.no LIMIT $6
) page WHERE before < $7 ORDER BY seq
