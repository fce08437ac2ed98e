SELECT seq, leaf, detail FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2
