DELETE FROM lane_holder t USING unnest($1::text[], $2::text[], $3::uuid[]) w(pipeline, lane, id)
WHERE t.pipeline = w.pipeline AND t.lane = w.lane AND t.id = w.id
