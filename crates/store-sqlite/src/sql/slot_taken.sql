SELECT no FROM slot WHERE pipeline = ?1 AND label = ?2 AND value = ?3
