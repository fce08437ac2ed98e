SELECT seq, leaf, detail FROM event WHERE seq = ?1
