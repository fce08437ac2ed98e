SELECT hold FROM parked WHERE hold > ?1 ORDER BY hold LIMIT 1
