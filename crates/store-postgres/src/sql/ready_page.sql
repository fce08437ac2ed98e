-- The first of each queue that is asked for. No pipeline: those that have the task waiting, one seek each.
SELECT r.rank, r.id
FROM unnest($1::text[], $2::text[]) w(task, pipeline)
CROSS JOIN LATERAL (
  WITH RECURSIVE waiting (name) AS (
    SELECT (SELECT min(pipeline) FROM ready WHERE task = w.task) WHERE w.pipeline IS NULL
    UNION ALL
    SELECT (SELECT min(pipeline) FROM ready WHERE task = w.task AND pipeline > waiting.name)
    FROM waiting WHERE waiting.name IS NOT NULL
  )
  SELECT name FROM waiting WHERE name IS NOT NULL
  UNION ALL
  SELECT w.pipeline WHERE w.pipeline IS NOT NULL
) p
CROSS JOIN LATERAL (
  SELECT t.rank, t.id FROM ready t WHERE t.task = w.task AND t.pipeline = p.name ORDER BY t.rank, t.id LIMIT $3
) r
