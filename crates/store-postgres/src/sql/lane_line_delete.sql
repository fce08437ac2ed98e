DELETE FROM lane_line t USING unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::uuid[]) w(pipeline, lane, since, tie, id)
WHERE t.pipeline = w.pipeline AND t.lane = w.lane AND t.since = w.since AND t.tie = w.tie AND t.id = w.id
