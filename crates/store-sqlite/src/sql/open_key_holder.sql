SELECT id FROM open_key WHERE pipeline = ?1 AND key = ?2
