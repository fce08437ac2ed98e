-- A tile only grows: whoever comes late with less of it changes nothing.
INSERT INTO tile (level, no, hashes)
SELECT level, no, hashes FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) w(level, no, hashes)
ON CONFLICT (level, no) DO UPDATE SET hashes = excluded.hashes WHERE length(excluded.hashes) > length(tile.hashes)
