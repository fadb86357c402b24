-- Where in the log a segment's leaf is. It stands for an index over the leaves, which every append had to pay for.
ALTER TABLE segments ADD COLUMN leaf INTEGER;
UPDATE segments SET leaf = (
    SELECT idx FROM leaves
    WHERE leaves.tenant = segments.tenant AND leaves.run = segments.run AND leaves.seq = segments.last_seq);
DROP INDEX leaves_by_run;
