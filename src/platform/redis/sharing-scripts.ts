/**
 * The atomic Redis scripts of sharing-redis.ts. A lease says which replica makes a value. Its fence is a number that
 * only increases. It starts at the server's clock in microseconds, so it also increases after Redis lost all data. KEYS
 * are the value, the lease and the newest fence, all in one slot of a cluster.
 */

/**
 * ARGV: the lease's milliseconds, the fence's milliseconds, an unacceptable value. Returns `there` and the value,
 * `held` with fence and milliseconds, or `taken` and the fence.
 */
export const takeScript = `
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[3] then return {'there', value} end
local holder = redis.call('GET', KEYS[2])
if holder then return {'held', holder, redis.call('PTTL', KEYS[2])} end
local time = redis.call('TIME')
local fence = time[1] * 1000000 + time[2]
local last = redis.call('GET', KEYS[3])
if last and tonumber(last) >= fence then fence = tonumber(last) + 1 end
fence = string.format('%.0f', fence)
redis.call('SET', KEYS[2], fence, 'PX', ARGV[1])
redis.call('SET', KEYS[3], fence, 'PX', ARGV[2])
return {'taken', fence}`;

/**
 * ARGV: the fence, the value, its milliseconds, an unacceptable value. Returns `stored`, `there` and the value, or
 * `superseded` if another replica has taken the lease. If the stored fence has expired, the value is stored.
 */
export const storeScript = `
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[4] then return {'there', value} end
local last = redis.call('GET', KEYS[3])
if last and last ~= ARGV[1] then return {'superseded'} end
if tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return {'stored'}`;

/** KEYS: the lease. ARGV: the fence, milliseconds. Extends the lease if this holder still has it. */
export const beatScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`;

/** KEYS: the lease. ARGV: the fence. Ends the lease if this holder still has it. */
export const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** KEYS: the value. ARGV: the value, its milliseconds, an unacceptable value. Returns the value that is stored afterwards. */
export const offerScript = `
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[3] then return value end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]`;
