-- What has no detail is an act, and in nobody's feed. Labels are looked at by whoever asks: they are few, and most events are left out before.
SELECT seq, leaf, detail, labels FROM event
WHERE seq > ?1 AND seq <= ?2 AND length(detail) > 0 AND (?3 IS NULL OR pipeline = ?3) AND (?4 IS NULL OR state = ?4)
ORDER BY seq
