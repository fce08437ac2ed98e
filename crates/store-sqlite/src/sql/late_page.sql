-- Whoever asks stops at the end of the time it asks for: a second bound here would be checked entry by entry to the end.
SELECT at, id FROM late WHERE pipeline = ?1 AND (at, id) > (?2, ?3) ORDER BY at, id LIMIT ?4
