DELETE FROM past_key WHERE pipeline = ?1 AND key = ?2 AND id = ?3
