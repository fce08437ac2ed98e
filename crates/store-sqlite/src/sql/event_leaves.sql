SELECT leaf FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2
