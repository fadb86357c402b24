-- Rows of runs are shorter from now on: an array of what no other column says. Those from before stay as they are and read the
-- same, so nothing changes here but the version: a program that does not know the array must not take it for damage.
SELECT 1;
