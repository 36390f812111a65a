-- Since when an attempt under the key may have done it: platforms know a key for a while only. What is older than this version is
-- taken for as old as can be, so it is not repeated.
ALTER TABLE submission ADD COLUMN submitted_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE submission ADD COLUMN doubt_since INTEGER;
UPDATE submission SET doubt_since = 0 WHERE doubt = 1;
ALTER TABLE submission DROP COLUMN doubt;
