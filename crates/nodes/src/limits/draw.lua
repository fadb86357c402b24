-- Draws from every bucket, or from none if one of them has no room for a single request.
-- KEYS: the buckets. ARGV: of each what one request takes, what the bucket holds, and how many requests to take at most; 0
-- is a look. Amounts are nanoseconds, for that is how long it takes until they have flown in again.
-- A bucket is "<missing> <when>": what was missing, at which microsecond. One that is not there is full.
local buckets, refused = {}, false
for at, key in ipairs(KEYS) do
  local cost, room, most = tonumber(ARGV[3 * at - 2]), tonumber(ARGV[3 * at - 1]), tonumber(ARGV[3 * at])
  local missing, seen = string.match(redis.call('GET', key) or '', '^(%d+) (%d+)$')
  -- A clock that was put back has let nothing flow in, and counts from where it is now.
  local passed = math.max(0, now - tonumber(seen or now))
  missing = math.max(0, tonumber(missing or 0) - passed * 1000)
  local fits = math.max(0, math.floor((room - missing) / cost))
  refused = refused or fits == 0
  buckets[at] = { missing = missing, cost = cost, taken = math.min(fits, most) }
end

local answer = {}
for at, bucket in ipairs(buckets) do
  local taken, missing = refused and 0 or bucket.taken, bucket.missing
  if taken > 0 then
    missing = missing + taken * bucket.cost
    -- Once it is full again nobody needs to know of it.
    local kept = math.ceil(missing / 1000000) + 1
    redis.call('SET', KEYS[at], string.format('%.0f %.0f', missing, now), 'PX', kept)
  end
  answer[#answer + 1], answer[#answer + 2] = taken, missing
end
return answer
