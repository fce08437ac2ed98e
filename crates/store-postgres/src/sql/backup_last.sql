SELECT (extract(epoch FROM made_at) * 1000)::bigint FROM backup ORDER BY made_at DESC LIMIT 1
