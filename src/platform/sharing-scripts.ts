/**
 * What Redis does in one step for sharing-redis.ts. A lease says who makes a value; its fence is a number that only grows, over a
 * Redis that forgot everything too, since it begins at the server's clock in microseconds. KEYS, all of one slot of a cluster: the
 * value, the lease, the newest fence.
 */

/** ARGV: lease's ms, fence's ms, a value that will not do. Answers `there` value, `held` fence ms, or `taken` fence. */
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
 * ARGV: fence, value, its ms, a value that will not do. Answers `stored`, `there` value, or `superseded` where somebody took the
 * lease since. A fence that was forgotten is nobody's: the value is kept then.
 */
export const storeScript = `
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[4] then return {'there', value} end
local last = redis.call('GET', KEYS[3])
if last and last ~= ARGV[1] then return {'superseded'} end
if tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return {'stored'}`;

/** KEYS: the lease. ARGV: fence, ms. Lives on, where it is still this holder's. */
export const beatScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`;

/** KEYS: the lease. ARGV: fence. Ends it, where it is still this holder's. */
export const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** KEYS: the value. ARGV: value, its ms, a value that will not do. Answers what is kept then. */
export const offerScript = `
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[3] then return value end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]`;
