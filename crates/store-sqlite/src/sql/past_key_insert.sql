INSERT OR IGNORE INTO past_key (pipeline, key, id) VALUES (?1, ?2, ?3)
