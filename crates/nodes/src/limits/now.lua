-- Before the script: the time of Redis, which is the same for all nodes, in microseconds.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
