SELECT pipeline, state, code, pattern, count FROM dead_kind
WHERE (pipeline, state, code, pattern) > (?1, ?2, ?3, ?4)
ORDER BY pipeline, state, code, pattern LIMIT ?5
