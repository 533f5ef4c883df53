/** The primary PostgreSQL fails under load and its standby is promoted. */
import { expect, it, onTestFinished } from 'vitest';
import { login, manager } from '../product/guest.js';
import { startProduct } from '../product/product.js';
import { isPostgresServerThere, startOwnPostgres, startStandby } from '../suites/postgres-server.js';
import { writeLine } from './table.js';
import { faultTimeoutMs, measure } from './under-load.js';

it.runIf(isPostgresServerThere()).each(['killed', 'frozen'] as const)(
  'primary %s, standby promoted: answers or 503 with Retry-After, and nothing is lost',
  { timeout: faultTimeoutMs },
  async (how) => {
    const primary = await startOwnPostgres();
    onTestFinished(primary.remove);
    const standby = await startStandby(primary);
    onTestFinished(standby.remove);
    const product = await startProduct({
      isEmbedded: true,
      env: {
        DATABASE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
        GUESTLIST_TENANT_PER_MINUTE: '1000000',
      },
    });
    onTestFinished(product.remove);
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    await login(product, manager('LAX'));
    const { line, faults } = await measure(product, {
      fault: `PostgreSQL: primary ${how}, standby promoted`,
      begin: () => (how === 'killed' ? primary.kill() : primary.freeze()),
      end: () => standby.promote(),
      rounds: 1,
    });
    writeLine(line);
    expect([faults, line.lost]).toEqual([[], 0]);
  },
);
