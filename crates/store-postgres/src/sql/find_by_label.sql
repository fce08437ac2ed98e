-- Along the list of the first label; the other conditions by a look into their tables.
SELECT s.id, s.row_version, s.event_batch, s.event_no, s.row
FROM label t JOIN submission s ON s.id = t.id
WHERE t.name = ($7::text[])[1] AND t.value = ($8::text[])[1] AND t.id <= $1 AND t.id >= $3
  AND ($4::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($4::text[], $5::text[], $6::text[]) w(pipeline, state, status)
    JOIN place p ON p.pipeline = w.pipeline AND p.state = w.state AND p.status = w.status AND p.id = t.id
  ))
  AND NOT EXISTS (
    SELECT FROM unnest($7::text[], $8::text[]) w(name, value)
    WHERE NOT EXISTS (SELECT FROM label l WHERE l.name = w.name AND l.value = w.value AND l.id = t.id)
  )
ORDER BY t.id DESC LIMIT $2
