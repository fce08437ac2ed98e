UPDATE meta SET value = ?2 WHERE name = ?1
