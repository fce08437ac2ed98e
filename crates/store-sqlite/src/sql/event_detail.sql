SELECT detail FROM event WHERE seq = ?1 AND length(detail) > 0
