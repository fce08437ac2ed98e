SELECT prev, revision FROM event WHERE seq = ?1
