-- Ends a reservation whose outcome is in the database by now, in one step with counting what was spent.
-- KEYS: what the id holds; then of each meter the counter and the note. ARGV: id, `add` or `forget`; then of each meter
-- the amount. To forget is for whoever does not know whether it was added before: the database does.
release(KEYS[1], ARGV[1])
local argument = 3
for at = 2, #KEYS, 2 do
  local counter, note, amount = KEYS[at], KEYS[at + 1], tonumber(ARGV[argument])
  if ARGV[2] == 'forget' then
    redis.call('DEL', counter, note)
  elseif amount > 0 then
    local spent = redis.call('GET', counter)
    if spent then
      redis.call('INCRBY', counter, whole(math.min(amount, MOST - tonumber(spent))))
    elseif redis.call('EXISTS', note) == 1 then
      redis.call('HINCRBY', note, 'settled', whole(amount))
    end
  end
  argument = argument + 1
end
return redis.status_reply('OK')
