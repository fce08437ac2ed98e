SELECT pipeline, state, code, count FROM dead_count WHERE (pipeline, state, code) > (?1, ?2, ?3)
ORDER BY pipeline, state, code LIMIT ?4
