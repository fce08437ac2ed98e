UPDATE event e SET detail = w.detail
FROM unnest($1::bigint[], $2::int[], $3::bytea[]) w(batch, no, detail)
WHERE e.batch = w.batch AND e.no = w.no
