DELETE FROM timer WHERE at = ?1 AND id = ?2
