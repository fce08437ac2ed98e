SELECT hashes FROM tile WHERE level = ?1 AND no = ?2
