-- What has no detail is no event.
SELECT leaf FROM event WHERE seq = ?1 AND length(detail) = 0
