-- The last position that is retired, and the newest of all, retired or not: positions are never given twice.
SELECT value, max(value, coalesce((SELECT max(seq) FROM event), 0)) FROM meta WHERE name = 'retired'
