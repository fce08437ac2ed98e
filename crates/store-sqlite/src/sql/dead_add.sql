INSERT INTO dead_count (pipeline, state, code, count) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (pipeline, state, code) DO UPDATE SET count = count + excluded.count
