/** `POST /data-app/datamarts/compare`: how a datamart differs from its database, and what comes of accepting it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnRef } from '../engine/world.js';
import { type House, type Input, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const model = (parts: Input = {}): Input => ({
  tableList: [{ name: 'sales', clientColumn: 'client', columns: [{ name: 'client' }, { name: 'vanished' }], ...parts }],
  tenancySettings: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'main', tableName: 'clients' },
    ...{ tableClientNameColumn: 'name', tablePrimaryKeyColumn: 'id' },
  },
});
const asked = (more: Input = {}): Input => ({ datamartName: 'shop', model: model(), ...more });

test('what is new and gone is named with what it breaks, and an accepted change is in the answer alone', async () => {
  const uses = [{ name: 'restriction "r"', where: 'policy.yaml:7', columns: [columnRef('sales.vanished')] }];
  const { data, accepted } = await ok(house, 'compareDatamart', asked({ uses }));
  expect(accepted).toBeNull();
  const gone = data.find(({ name }) => name === 'main.sales.vanished');
  expect(gone).toMatchObject({ change: { kind: 'gone' }, breaks: [{ what: 'policy', name: 'restriction "r"' }] });
  const added = data.find(({ change: { kind, columnName } }) => kind === 'new' && columnName !== null);
  expect(added).toMatchObject({ ownership: { kind: 'column' }, caution: null });
  const accept = [gone?.change, { ...added?.change, kind: 'leftOut' }];
  const after = await ok(house, 'compareDatamart', asked({ accept, dashboards: [] }));
  const [table] = after.accepted?.model.tableList ?? [];
  expect(after.accepted).toMatchObject({ fault: null });
  expect(table).toMatchObject({ columns: [{ name: 'client' }], leftOut: [added?.change.columnName] });
  const again = { datamartName: 'shop', model: after.accepted?.model };
  const names = (await ok(house, 'compareDatamart', again)).data.map(({ name }) => name);
  expect(names).not.toContain(gone?.name);
  expect(names).not.toContain(added?.name);
});

test('an unknown datamart, an unreachable datasource and a wrong credential are refused', async () => {
  await refused('compareDatamart INVALID_DATAMART', house, asked({ datamartName: 'nowhere' }));
  await refused('compareDatamart DATASOURCE_CONNECTION_ERROR', house, asked({ datamartName: 'lost' }));
  await refused('compareDatamart INVALID_REQUEST_BODY', house, { datamartName: 'shop' });
  await refused('compareDatamart AUTHENTICATION_ERROR', house, asked(), { bearer: house.apiKey });
});
