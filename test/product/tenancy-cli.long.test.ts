/** `guestlist tenancy` with a running service, and the log lines of a start about tables that no query may read. */
import { afterEach, expect, test, vi } from 'vitest';
import { runTenancy } from '../../src/cli/tenancy.js';
import { createDatamart } from '../../src/contract/datamart-writes.js';
import { request } from './guest.js';
import { runToEnd, startProduct } from './product.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const planes = {
  name: 'planes',
  datasourceName: 'flights',
  tenancySettings: {
    tenancyLevel: 'TABLE',
    clientColumnType: 'STRING',
    schemaName: 'main',
    tableName: 'tenants',
    tablePrimaryKeyColumn: 'iata',
    tableClientNameColumn: 'name',
  },
  tableList: [
    { name: 'flights', clientColumn: 'origin', columns: [{ name: 'origin' }, { name: 'destination' }] },
    { name: 'airports', columns: [{ name: 'iata' }] },
  ],
};

/** Runs the command in this process. Returns the exit code and what it printed. */
const run = async (...args: string[]) => {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text) => void printed.push(String(text)));
  const code = await runTenancy(args);
  return { code, output: printed.join('\n') };
};

test('guestlist tenancy prints whose the rows are; a start logs the tables that no query may read', async () => {
  const product = await startProduct();
  const { dataDir, credentials, url } = product;
  vi.stubEnv('GUESTLIST_SERVICE_TOKEN', credentials.serviceToken);
  try {
    expect(await run('flights', '--url', url)).toEqual({
      code: 0,
      output: [
        'TABLE          ROWS OF      WHY',
        'main.flights   one client   client column main.flights.origin',
        'main.airports  all clients  listed in sharedTables',
        'main.tenants   one client   key main.tenants.iata of the table of clients',
      ].join('\n'),
    });
    const made = await request(`${url}/api/v2/data-app/datamarts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credentials.serviceToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(planes),
    });
    const { message } = createDatamart.output.parse(made.body).warnings?.[0] ?? {};
    // As a separate process, which reads its token from the data folder.
    const spawned = await runToEnd(['tenancy', 'planes', '--url', url], { GUESTLIST_DATA_DIR: dataDir });
    expect(spawned).toEqual({ code: 1, output: expect.stringContaining(`main.airports  UNREADABLE  ${message}`) });
    const json = await run('planes', '--json', '--url', url);
    expect([json.code, JSON.parse(json.output)]).toMatchObject([
      1,
      { datamartName: 'planes', tables: [{ kind: 'column' }, { kind: 'unreadable', message }] },
    ]);
    for (const args of [['Planes'], [], ['planes', 'flights']]) {
      await expect(runTenancy([...args, '--url', url]), args.join(' ')).rejects.toMatchObject({ name: 'WrongCall' });
    }
  } finally {
    await product.stop();
  }
  const again = await startProduct({ dataDir });
  try {
    await expect.poll(again.output, { timeout: 30_000 }).toContain('"event":"datamart.table_refused"');
    const lines = again
      .output()
      .split('\n')
      .filter((line) => line.includes('datamart.table_refused'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', datamart: 'planes', table: 'main.airports', msg: expect.stringContaining('sharedTables') },
    ]);
  } finally {
    await again.stop();
    await again.remove();
  }
}, 180_000);

test('guestlist tenancy says where it asked, and how it is called', async () => {
  vi.stubEnv('GUESTLIST_SERVICE_TOKEN', 'x');
  await expect(runTenancy(['flights', '--url', 'http://127.0.0.1:1'])).rejects.toThrow(
    'No service answers at http://127.0.0.1:1',
  );
  expect(await run('--help')).toEqual({ code: 0, output: expect.stringContaining('guestlist tenancy DATAMART') });
});
