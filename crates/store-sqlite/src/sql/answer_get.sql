SELECT body FROM answer WHERE subject = ?1 AND route = ?2 AND key = ?3 AND expires_at > ?4
