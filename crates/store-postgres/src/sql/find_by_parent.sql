-- Along the list of a parent's children; the other conditions by a look into their tables.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM parent t JOIN submission s ON s.id = t.id
WHERE t.parent = $8 AND t.id <= $1
  AND ($3::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($3::text[], $4::text[], $5::text[]) w(pipeline, state, status)
    JOIN place p ON p.pipeline = w.pipeline AND p.state = w.state AND p.status = w.status AND p.id = t.id
  ))
  AND NOT EXISTS (
    SELECT FROM unnest($6::text[], $7::text[]) w(name, value)
    WHERE NOT EXISTS (SELECT FROM label l WHERE l.name = w.name AND l.value = w.value AND l.id = t.id)
  )
ORDER BY t.id DESC LIMIT $2
