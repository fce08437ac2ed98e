-- Leaps from lane to lane: those in line are not walked past.
WITH RECURSIVE lanes AS (
  (SELECT lane FROM lane_line WHERE pipeline = $1 AND lane > $2 ORDER BY lane LIMIT 1)
  UNION ALL
  SELECT (SELECT l.lane FROM lane_line l WHERE l.pipeline = $1 AND l.lane > n.lane ORDER BY l.lane LIMIT 1)
  FROM lanes n WHERE n.lane IS NOT NULL
)
SELECT lane FROM lanes WHERE lane IS NOT NULL LIMIT $3
