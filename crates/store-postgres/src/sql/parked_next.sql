-- Leaps from name to name: what is parked under them is not walked past.
WITH RECURSIVE names AS (
  (SELECT hold FROM parked WHERE hold > $1 ORDER BY hold LIMIT 1)
  UNION ALL
  SELECT (SELECT p.hold FROM parked p WHERE p.hold > n.hold ORDER BY p.hold LIMIT 1) FROM names n WHERE n.hold IS NOT NULL
)
SELECT hold FROM names WHERE hold IS NOT NULL LIMIT $2
