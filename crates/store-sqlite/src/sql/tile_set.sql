-- A tile only grows: whoever comes late with less of it changes nothing.
INSERT INTO tile (level, no, hashes) VALUES (?1, ?2, ?3)
ON CONFLICT (level, no) DO UPDATE SET hashes = excluded.hashes WHERE length(excluded.hashes) > length(hashes)
