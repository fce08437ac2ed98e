-- As `ready_page`, of what has every label's value: along the queue of the first, by a look into those of the others.
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
  SELECT t.rank, t.id FROM ready_label t
  WHERE t.task = w.task AND t.pipeline = p.name AND t.name = ($4::text[])[1] AND t.value = ($5::text[])[1]
    AND NOT EXISTS (
      SELECT FROM unnest($4::text[], $5::text[]) l(name, value)
      WHERE NOT EXISTS (
        SELECT FROM ready_label o
        WHERE o.task = t.task AND o.pipeline = t.pipeline AND o.name = l.name AND o.value = l.value
          AND o.rank = t.rank AND o.id = t.id
      )
    )
  ORDER BY t.rank, t.id LIMIT $3
) r
