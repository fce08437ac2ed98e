-- The holder's place comes first, then those in line.
SELECT true, id FROM lane_holder WHERE pipeline = $1 AND lane = $2
UNION ALL
(SELECT false, id FROM lane_line WHERE pipeline = $1 AND lane = $2 ORDER BY since, tie, id LIMIT $3)
