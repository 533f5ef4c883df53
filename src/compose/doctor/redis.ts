/** Looks at Redis: it holds nothing that is not elsewhere, so it must neither refuse writes when it is full nor keep tokens on disk. */
import { readRedisUrl } from '../../platform/addresses/redis-url.js';
import type { Log } from '../../platform/logs/log.js';
import { createRedisClient, type RedisClient } from '../../platform/redis/redis.js';
import { type Finding, finding, good, wordsOf } from './finding.js';
import { isLocalHost } from './machine.js';

const area = 'Redis';

const fieldsOf = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );

const policyFindings = (memory: ReadonlyMap<string, string>): readonly Finding[] => {
  const limit = Number(memory.get('maxmemory') ?? 0);
  const policy = memory.get('maxmemory_policy') ?? 'noeviction';
  if (limit === 0)
    return [
      finding('warning', area, 'it has no limit of its memory', {
        mend: 'Set maxmemory, and maxmemory-policy allkeys-lru: what is lost is made anew.',
      }),
    ];
  return policy === 'noeviction'
    ? [
        finding('fault', area, 'it refuses writes when it is full (maxmemory-policy noeviction)', {
          mend: 'Set maxmemory-policy allkeys-lru: what is lost is made anew.',
        }),
      ]
    : [good(area, `it gives up old entries when it is full (${policy})`)];
};

const persistenceFindings = (persistence: ReadonlyMap<string, string>): readonly Finding[] =>
  persistence.get('aof_enabled') === '1'
    ? [
        finding('warning', area, 'it writes every change to its disk (appendonly), which nothing here needs', {
          mend: 'Set appendonly no and save "": sealed answers and tokens then stay in memory.',
        }),
      ]
    : [good(area, 'it does not write every change to its disk')];

/** The hosts of the URL, without its credentials. */
const hostsOf = (url: string): readonly string[] => {
  const place = readRedisUrl(url);
  return place.kind === 'single' ? [new URL(place.url).hostname] : place.nodes.map(({ host }) => host);
};

const read = async (client: RedisClient): Promise<readonly Finding[]> => {
  await client.connect();
  const [server, memory, persistence] = [
    fieldsOf(await client.info('server')),
    fieldsOf(await client.info('memory')),
    fieldsOf(await client.info('persistence')),
  ];
  return [
    good(area, `Redis ${server.get('redis_version') ?? ''} answers`),
    ...policyFindings(memory),
    ...persistenceFindings(persistence),
  ];
};

export const examineRedis = async (url: string | null, log: Log): Promise<readonly Finding[]> => {
  if (url === null) return [finding('note', area, 'it is not configured: several replicas need it')];
  const client = createRedisClient({ url, log });
  // Its errors are those of the commands, which are awaited.
  client.on('error', () => undefined);
  try {
    return [
      ...(await read(client)),
      ...(hostsOf(url).every(isLocalHost) || /^rediss/i.test(url)
        ? []
        : [
            finding('warning', 'TLS', 'the connection to Redis is not encrypted', {
              mend: 'Use rediss:// in REDIS_URL.',
            }),
          ]),
    ];
  } catch (error) {
    return [
      finding('fault', area, 'it does not answer', {
        subject: `${hostsOf(url).join(', ')}: ${wordsOf(error)}`,
        mend: 'Check REDIS_URL, and that INFO is allowed to its user. Without Redis, replicas work slower and do not share limits.',
      }),
    ];
  } finally {
    client.disconnect();
  }
};
