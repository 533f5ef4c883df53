/** Parses REDIS_URL without the Redis client: one server, Sentinel or Cluster. */
import type { RedisOptions } from 'ioredis';

type Address = { readonly host: string; readonly port: number };
/** The address of Redis. */
export type RedisPlace =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel' | 'cluster';
      readonly nodes: Address[];
      readonly name: string;
      readonly access: RedisOptions;
    };

export const redisUrlMend =
  'must be redis://host:port, redis-sentinel://host:port,host:port/master-name or redis-cluster://host:port,host:port; rediss for TLS';

const addressOf = (text: string, defaultPort: number): Address => {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
};

const accessOf = (credentials: string | undefined, isTls: boolean): RedisOptions => {
  const [username = '', ...rest] = (credentials ?? '').split(':').map(decodeURIComponent);
  const password = rest.join(':');
  return {
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(isTls ? { tls: {} } : {}),
  };
};

/** Parses REDIS_URL. Throws an Error that contains no password. */
export const readRedisUrl = (url: string): RedisPlace => {
  const match = /^redis(s?)(?:-(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?/.exec(url);
  if (match === null) throw new Error(`REDIS_URL ${redisUrlMend}`);
  const [, tls, kind, credentials, hosts = '', name = ''] = match;
  if (kind !== 'sentinel' && kind !== 'cluster') {
    // The client treats a URL that it cannot parse as a host of this machine, so such a URL is refused here.
    if (!URL.canParse(url)) throw new Error(`REDIS_URL ${redisUrlMend}`);
    return { kind: 'single', url };
  }
  if (kind === 'sentinel' && name === '') throw new Error(`REDIS_URL names no master: it ${redisUrlMend}`);
  const nodes = hosts.split(',').map((host) => addressOf(host, kind === 'sentinel' ? 26_379 : 6379));
  return { kind, nodes, name, access: accessOf(credentials, tls === 's') };
};

export const isRedisUrl = (url: string): boolean => {
  try {
    readRedisUrl(url);
    return true;
  } catch {
    // The caller's message already says what is wrong.
    return false;
  }
};
