/** PostgreSQL with the metadata is restarted, frozen, and ends sessions while users send requests. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { analyst, login, manager, session } from '../product/guest.js';
import { type Product, startProduct } from '../product/product.js';
import { isPostgresServerThere, type OwnPostgres, type StopMode, startOwnPostgres } from '../suites/postgres-server.js';
import { askOnce, faultsOf, type Outcome, startLoad } from './clients.js';

describe.skipIf(!isPostgresServerThere())('metadata on PostgreSQL', () => {
  let postgres: OwnPostgres;
  let product: Product;
  let guestToken: string;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
    product = await startProduct({
      isEmbedded: true,
      env: { DATABASE_URL: postgres.url, GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' },
    });
    guestToken = (await login(product, manager('LAX'))).token;
  });
  afterAll(async () => {
    await product?.stop('SIGKILL');
    await product?.remove();
    await postgres?.remove();
  });

  /** Sends a login of a new user, so that no answer comes from a cache. */
  const askToken = (user: string | number): Promise<Outcome> => {
    const authorization = `Bearer ${session(product, { ...analyst('LAX'), sub: `user-${user}` })}`;
    return askOnce(`${product.url}/embed-token`, { method: 'POST', headers: { authorization } });
  };
  const askDashboard = (): Promise<Outcome> =>
    askOnce(`${product.url}/api/v2/guest/dashboards/delays--LAX`, {
      headers: { authorization: `Bearer ${guestToken}` },
    });
  const askReady = (): Promise<Outcome> => askOnce(`${product.url}/readyz`);
  const load = (clients: number) => startLoad(clients, (count) => (count % 2 === 0 ? askDashboard() : askToken(count)));

  const assertServing = (): Promise<void> =>
    vi.waitFor(
      async () => {
        const [token, dashboard, ready] = await Promise.all([
          askToken(`again-${performance.now()}`),
          askDashboard(),
          askReady(),
        ]);
        expect([token.status, dashboard.status, ready.status]).toEqual([200, 200, 200]);
      },
      { timeout: 2_000, interval: 100 },
    );

  it.each<StopMode>(['fast', 'immediate'])(
    'a restart (%s) ends no process: users get answers or 503 with Retry-After, and it serves again within 2 s',
    async (mode) => {
      const { outcomes, ended, stop } = load(8);
      await ended(16);
      await postgres.stop(mode);
      await ended(16);
      await postgres.start();
      await assertServing();
      await stop();
      expect(faultsOf(outcomes)).toEqual([]);
      expect(outcomes.some(({ status }) => status === 503)).toBe(true);
    },
  );

  it('sessions that the server ends (pg_terminate_backend) are replaced, and no process ends', async () => {
    const { outcomes, ended, stop } = load(8);
    for (let round = 0; round < 3; round += 1) {
      await ended(8);
      await postgres.execute('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    }
    await ended(8);
    await stop();
    await assertServing();
    expect(faultsOf(outcomes)).toEqual([]);
  });

  it('while it is frozen, tokens, dashboards and /readyz get 503: nothing waits until it answers again', async () => {
    const { outcomes, ended, stop } = load(4);
    await ended(8);
    postgres.freeze();
    try {
      const asked = await Promise.all([askReady(), askToken('frozen'), askDashboard()]);
      expect(asked.map(({ status }) => status)).toEqual([503, 503, 503]);
      const later = await Promise.all([askReady(), askToken('frozen later'), askDashboard()]);
      expect(later.map(({ status }) => status)).toEqual([503, 503, 503]);
      await ended(4);
    } finally {
      postgres.thaw();
    }
    await assertServing();
    await stop();
    expect(faultsOf(outcomes)).toEqual([]);
  });

  it('a database that refuses writes (a standby after a failover) gives 503, never 500, and the process is not ready', async () => {
    await postgres.execute('alter system set default_transaction_read_only = on');
    await postgres.execute('select pg_reload_conf()');
    try {
      await vi.waitFor(async () => expect((await askReady()).status).toBe(503), { timeout: 5_000 });
      const asked = [await askToken('read-only'), await askToken('read-only too')];
      expect(asked.map(({ status, retryAfter }) => [status, retryAfter !== undefined])).toEqual([
        [503, true],
        [503, true],
      ]);
    } finally {
      await postgres.execute('alter system reset default_transaction_read_only');
      await postgres.execute('select pg_reload_conf()');
    }
    await assertServing();
  });
});
