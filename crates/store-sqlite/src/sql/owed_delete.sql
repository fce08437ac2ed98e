DELETE FROM owed WHERE submission = ?1 AND revision = ?2 AND no = ?3
