/** Disks become full under load. */
import { expect, it, onTestFinished } from 'vitest';
import { login, manager } from '../product/guest.js';
import { startProduct } from '../product/product.js';
import { isPostgresServerThere, startOwnPostgres } from '../suites/postgres-server.js';
import { mountSmallDisk } from '../suites/small-disk.js';
import { writeLine } from './table.js';
import { faultTimeoutMs, measure, untilRefused } from './under-load.js';

const limits = { GUESTLIST_TENANT_PER_MINUTE: '1000000' };

it.runIf(isPostgresServerThere())(
  'disk full, of PostgreSQL: answers or 503 with Retry-After, and nothing is lost',
  { timeout: faultTimeoutMs },
  async ({ skip }) => {
    const disk = await mountSmallDisk(160);
    if (disk === undefined) return skip();
    onTestFinished(disk.remove);
    const postgres = await startOwnPostgres(disk.folder);
    onTestFinished(postgres.remove);
    const product = await startProduct({ env: { DATABASE_URL: postgres.url, ...limits } });
    onTestFinished(product.remove);
    onTestFinished(async () => void (await product.stop('SIGKILL')));
    await login(product, manager('LAX'));
    const { line, faults } = await measure(product, {
      fault: 'disk full, of PostgreSQL',
      begin: disk.fill,
      during: () => untilRefused(product),
      end: async () => {
        await disk.empty();
        // PostgreSQL ends if it cannot write its log.
        await postgres.execute('select 1').catch(() => postgres.start());
      },
    });
    writeLine(line);
    expect([faults, line.lost]).toEqual([[], 0]);
  },
);

it('disk full, of the embedded database: answers or 503 with Retry-After, and nothing is lost', {
  timeout: faultTimeoutMs,
}, async ({ skip }) => {
  const disk = await mountSmallDisk(160);
  if (disk === undefined) return skip();
  onTestFinished(disk.remove);
  const product = await startProduct({ isEmbedded: true, dataDir: disk.folder, env: limits });
  onTestFinished(async () => void (await product.stop('SIGKILL')));
  await login(product, manager('LAX'));
  const { line, faults } = await measure(product, {
    fault: 'disk full, of the embedded database',
    begin: disk.fill,
    during: () => untilRefused(product),
    end: disk.empty,
  });
  writeLine(line);
  expect([faults, line.lost]).toEqual([[], 0]);
});
