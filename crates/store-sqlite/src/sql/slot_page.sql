SELECT pipeline, label, value, no FROM slot WHERE (pipeline, label, value, no) > (?1, ?2, ?3, ?4)
ORDER BY pipeline, label, value, no LIMIT ?5
