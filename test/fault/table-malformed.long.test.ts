/**
 * PostgreSQL and Redis, or what stands before them, answer with damaged bytes under load, without encryption and over TLS:
 * only connections end. `platform/malformed-answers.test.ts` tries every protocol.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Relay, startRelay } from '../engine/relay.js';
import { login, manager } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, startOwnPostgres } from '../suites/postgres-server.js';
import { isRedisServerThere, type OwnRedis, startOwnRedis } from '../suites/redis.js';
import { createCertificate, isOpensslThere, startTlsFront, type TlsFront } from '../suites/tls.js';
import { askOnce } from './clients.js';
import { type DamageName, damageOf, damages, type Endless } from './damages.js';
import { writeLine } from './table.js';
import { faultTimeoutMs, measure } from './under-load.js';

const zeros = Buffer.alloc(262_144);
const endlessRow: Endless = { first: Buffer.from('D\x7f\xff\xff\xff', 'latin1'), repeated: zeros };
const endlessText: Endless = { first: Buffer.from('$2000000000\r\n'), repeated: zeros };

const endlessRecord: Endless = { first: Buffer.from([0x17, 3, 3, 0xff, 0xff]), repeated: zeros };

/** Flipped bits may be inside a value, where no protocol sees them. TLS sees each. */
const seenBy = (isTls: boolean) => damages.filter((name) => isTls || name !== 'flipped bytes');

const targetOf = (url: string) => {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
};
const through = (url: string, { host, port }: Relay): string => {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.href;
};

const areThere = isPostgresServerThere() && isRedisServerThere();
const ways = areThere ? [false, ...(isOpensslThere() ? [true] : [])] : [];

describe.each(ways)('malformed answers under load, with TLS: %s', (isTls) => {
  const by = isTls ? ' over TLS' : '';
  const certificate = isTls ? createCertificate() : null;
  let postgres: OwnPostgres;
  let redis: OwnRedis;
  let relays: { readonly postgres: Relay; readonly redis: Relay };
  let product: Product;
  let folder: string;
  const fronts: TlsFront[] = [];
  const relayTo = async (url: string, begins: 'PostgreSQL' | 'at once'): Promise<Relay> => {
    if (certificate === null) return startRelay(targetOf(url));
    const front = await startTlsFront(targetOf(url), certificate, begins);
    fronts.push(front);
    return startRelay(front);
  };
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    relays = { postgres: await relayTo(postgres.url, 'PostgreSQL'), redis: await relayTo(redis.url, 'at once') };
    folder = await mkdtemp(join(tmpdir(), 'guestlist-malformed-'));
    const authority = join(folder, 'authority.pem');
    if (certificate !== null) await writeFile(authority, certificate.cert);
    const urls = {
      DATABASE_URL: `${through(postgres.url, relays.postgres)}${isTls ? '?sslmode=verify-full' : ''}`,
      REDIS_URL: through(redis.url, relays.redis).replace('redis:', isTls ? 'rediss:' : 'redis:'),
      ...(isTls ? { NODE_EXTRA_CA_CERTS: authority } : {}),
    };
    const limits = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
    product = await startProduct({ env: { ...urls, ...limits } });
    await login(product, manager('LAX'));
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await Promise.all([relays?.postgres.close(), relays?.redis.close()]);
    for (const front of fronts) await front.stop();
    await rm(folder, { recursive: true, force: true });
    await redis?.stop();
    await postgres?.remove();
  });

  const runDamage = async (server: 'postgres' | 'redis', damage: DamageName): Promise<void> => {
    const relay = relays[server];
    const plain = server === 'postgres' ? endlessRow : endlessText;
    const endless = isTls ? endlessRecord : plain;
    let seed = 0;
    const { line, faults } = await measure(product, {
      fault: `${server}${by}: ${damage}`,
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
  it.each(seenBy(isTls))(
    `PostgreSQL with %s${by}: answers or 503, the process goes on, and nothing is lost`,
    { timeout: faultTimeoutMs },
    (damage) => runDamage('postgres', damage),
  );
  it.each(seenBy(isTls))(
    `Redis with %s${by}: answers or 503, the process goes on, and nothing is lost`,
    { timeout: faultTimeoutMs },
    (damage) => runDamage('redis', damage),
  );
});
