-- How meters stand.
-- KEYS: three of each meter. ARGV: now, name and time for loading.
local names = missing(1, ARGV[2], ARGV[3])
if names then return names end
local answer = { 'levels' }
for at = 1, #KEYS, 3 do
  answer[#answer + 1] = whole(tonumber(redis.call('GET', KEYS[at + 1])))
  answer[#answer + 1] = whole(reserved(KEYS[at], tonumber(ARGV[1]), ''))
end
return answer
