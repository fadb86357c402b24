-- Reserves all or nothing.
-- KEYS: what the id holds; then three of each meter.
-- ARGV: id, now, end, how long to keep it, name and time for loading; then of each meter the amount and the hard limit.
local held, id, now, ends, keep = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local names = missing(2, ARGV[5], ARGV[6])
if names then return names end

local answer, short, argument = { 'held' }, false, 7
for at = 2, #KEYS, 3 do
  local spent, others = tonumber(redis.call('GET', KEYS[at + 1])), reserved(KEYS[at], now, id)
  local amount, limit = tonumber(ARGV[argument]), ARGV[argument + 1]
  short = short or (limit ~= '' and spent + others + amount > tonumber(limit))
  answer[#answer + 1], answer[#answer + 2] = whole(spent), whole(others)
  argument = argument + 2
end
if short then
  answer[1] = 'short'
  return answer
end

release(held, id)
argument = 7
for at = 2, #KEYS, 3 do
  redis.call('HSET', KEYS[at], id, ends .. ' ' .. ARGV[argument])
  if redis.call('PTTL', KEYS[at]) < keep then redis.call('PEXPIRE', KEYS[at], keep) end
  redis.call('SADD', held, KEYS[at])
  argument = argument + 2
end
if #KEYS > 1 then redis.call('PEXPIRE', held, keep) end
return answer
