/** `guestlist tenancy` with a running service, and the log lines of a start about tables that no query may read. */
import { expect, test } from 'vitest';
import { createDatamart } from '../../src/service/datamarts/contract/writes.js';
import { runCli } from '../cli/in-process.js';
import { request } from './guest.js';
import { runToEnd, startProduct } from './product.js';

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
const run = async (serviceToken: string, ...args: string[]) => {
  const { code, out, err } = await runCli(['tenancy', ...args], { env: { GUESTLIST_SERVICE_TOKEN: serviceToken } });
  return { code, output: `${out}${err}`.trimEnd() };
};

test('guestlist tenancy prints whose the rows are; a start logs the tables that no query may read', async () => {
  const product = await startProduct();
  const { dataDir, credentials, url } = product;
  const { serviceToken } = credentials;
  try {
    expect(await run(serviceToken, 'flights', '--url', url)).toEqual({
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
    const json = await run(serviceToken, 'planes', '--json', '--url', url);
    expect([json.code, JSON.parse(json.output)]).toMatchObject([
      1,
      { datamartName: 'planes', tables: [{ kind: 'column' }, { kind: 'unreadable', message }] },
    ]);
    for (const args of [['Planes'], [], ['planes', 'flights']]) {
      expect(await run(serviceToken, ...args, '--url', url), args.join(' ')).toMatchObject({ code: 2 });
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
  expect(await run('x', 'flights', '--url', 'http://127.0.0.1:1')).toEqual({
    code: 1,
    output: expect.stringContaining('No service answers at http://127.0.0.1:1'),
  });
  const said = expect.stringContaining('guestlist tenancy [options] <datamart>');
  expect(await run('x', '--help')).toEqual({ code: 0, output: said });
});
