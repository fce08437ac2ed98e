DELETE FROM timer WHERE idle = ?1 AND at = ?2 AND id = ?3
