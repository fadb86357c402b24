-- Takes note of what the database says is spent, unless it is known, or what was read may be older than what was settled.
-- KEYS: of each meter the counter and the note. ARGV: how long to keep it, `exact` or `enough`; then of each meter the
-- name it was loaded under and the amount.
local argument = 3
for at = 1, #KEYS, 2 do
  local counter, note, name, spent = KEYS[at], KEYS[at + 1], ARGV[argument], tonumber(ARGV[argument + 1])
  -- Another name, or none: something was lost in between, and nobody has noted what was settled then.
  if redis.call('EXISTS', counter) == 0 and redis.call('HGET', note, 'name') == name then
    local settled = tonumber(redis.call('HGET', note, 'settled') or '0')
    -- It may be in what was read, or not. Counted twice is better than not at all; read again is better than both.
    if settled == 0 or ARGV[2] == 'enough' then
      redis.call('SET', counter, whole(math.min(spent + settled, MOST)), 'PX', ARGV[1])
    end
    redis.call('DEL', note)
  end
  argument = argument + 2
end
return redis.status_reply('OK')
