/** PostgreSQL and Redis, or what stands before them, answer with damaged bytes under load: only connections end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Relay, startRelay } from '../engine/relay.js';
import { login, manager } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { askOnce } from './clients.js';
import { type DamageName, damageOf, damages, type Endless } from './damages.js';
import { writeLine } from './table.js';
import { faultTimeoutMs, measure } from './under-load.js';

const zeros = Buffer.alloc(262_144);
const endlessRow: Endless = { first: Buffer.from('D\x7f\xff\xff\xff', 'latin1'), repeated: zeros };
const endlessText: Endless = { first: Buffer.from('$2000000000\r\n'), repeated: zeros };

/** Flipped bits may be inside a value, where no protocol sees them. */
const seen = damages.filter((name) => name !== 'flipped bytes');

const relayTo = (url: string): Promise<Relay> => {
  const { hostname, port } = new URL(url);
  return startRelay({ host: hostname, port: Number(port) });
};
const through = (url: string, { host, port }: Relay): string => {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.href;
};

describe.skipIf(!isPostgresServerThere() || !isRedisServerThere())('malformed answers under load', () => {
  let postgres: OwnPostgres;
  let redis: OwnRedis;
  let relays: { readonly postgres: Relay; readonly redis: Relay };
  let product: Product;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    relays = { postgres: await relayTo(postgres.url), redis: await relayTo(redis.url) };
    const urls = {
      DATABASE_URL: through(postgres.url, relays.postgres),
      REDIS_URL: through(redis.url, relays.redis),
    };
    const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    product = await startProduct({ env: { ...urls, ...limits } });
    await login(product, manager('LAX'));
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await Promise.all([relays?.postgres.close(), relays?.redis.close()]);
    await redis?.stop();
    await postgres?.remove();
  });

  const runDamage = async (server: 'postgres' | 'redis', damage: DamageName): Promise<void> => {
    const relay = relays[server];
    const endless = server === 'postgres' ? endlessRow : endlessText;
    let seed = 0;
    const { line, faults } = await measure(product, {
      fault: `${server}: ${damage}`,
      rounds: 4,
      begin: () => {
        seed += 1;
        relay.alter(damageOf(damage, seed, endless));
        relay.cut();
      },
      end: () => {
        relay.alter(null);
        relay.cut();
      },
    });
    writeLine(line);
    expect([faults, line.lost]).toEqual([[], 0]);
    expect((await askOnce(`${product.url}/readyz`)).status).toBe(200);
    expect(product.output()).not.toContain('process.fault');
  };
  it.each(seen)(
    'PostgreSQL with %s: answers or 503, the process goes on, and nothing is lost',
    { timeout: faultTimeoutMs },
    (damage) => runDamage('postgres', damage),
  );
  it.each(seen)(
    'Redis with %s: answers or 503, the process goes on, and nothing is lost',
    { timeout: faultTimeoutMs },
    (damage) => runDamage('redis', damage),
  );
});
