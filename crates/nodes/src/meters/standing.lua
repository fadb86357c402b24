-- Before every script: how a meter stands. Its reservations are one hash, from the id to "<end> <amount>".

-- Above this, sums of three are no longer exact.
local MOST = 2 ^ 51

local function whole(number)
  return string.format('%.0f', number)
end

-- What others than `mine` have reserved. What has ended is taken away on the way.
local function reserved(meter, now, mine)
  local all, sum = redis.call('HGETALL', meter), 0
  for at = 1, #all, 2 do
    local ends, amount = string.match(all[at + 1], '^(%d+) (%d+)$')
    if tonumber(ends) <= now then
      redis.call('HDEL', meter, all[at])
    elseif all[at] ~= mine then
      sum = sum + tonumber(amount)
    end
  end
  return math.min(sum, MOST)
end

-- Takes away what an id holds. Which meters that is of is in a set, and they all have the tenant's own beginning.
local function release(held, id)
  for _, meter in ipairs(redis.call('SMEMBERS', held)) do
    redis.call('HDEL', meter, id)
  end
  redis.call('DEL', held)
end

-- Whoever finds no counter reads the database next. From this moment on, what is settled meanwhile is noted, and who
-- was first says under which name. Gives that name.
local function loading(note, name, keep)
  if redis.call('HSETNX', note, 'name', name) == 1 then
    redis.call('PEXPIRE', note, keep)
  end
  return redis.call('HGET', note, 'name')
end

-- For each meter, under which name it is being loaded; nothing where its counter is there. False if all of them are.
-- The keys of a meter are three: its reservations, its counter, and the note of who is loading it.
local function missing(from, name, keep)
  local names, any = { 'load' }, false
  for at = from, #KEYS, 3 do
    local known = redis.call('EXISTS', KEYS[at + 1]) == 1
    any = any or not known
    names[#names + 1] = known and '' or loading(KEYS[at + 2], name, keep)
  end
  return any and names
end
