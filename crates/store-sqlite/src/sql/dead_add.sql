INSERT INTO dead_kind (pipeline, state, code, pattern, count) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (pipeline, state, code, pattern) DO UPDATE SET count = count + excluded.count
