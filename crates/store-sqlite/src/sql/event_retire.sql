DELETE FROM event WHERE seq <= ?1
