/** `POST /data-app/clients/names`, an operation of this project: the names that the master table has of clients. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, mint, ok, openHouse, refused } from './house.js';

const long = 'x'.repeat(500);
let house: House;
beforeAll(async () => {
  house = await openHouse(null, {
    rows: [
      "INSERT INTO clients VALUES ('long', repeat('x', 500))",
      "INSERT INTO clients VALUES ('bidi', 'a' || chr(8238) || 'b' || chr(10) || chr(27) || 'c')",
      "INSERT INTO clients VALUES ('markup', '<img src=x onerror=alert(1)>')",
      "INSERT INTO clients VALUES ('blank', '  ')",
    ],
  });
});
afterAll(() => house.close());

const asked = { bearer: () => house.apiKey };
const names = async (input: object) =>
  (await ok(house, 'listTenantNames', { datamartName: 'shop', ...input }, { bearer: asked.bearer() })).data;

test('names the clients that were asked for, and leaves out those without a row', async () => {
  expect(await names({ clientIds: ['acme', 'globex', 'nobody', 'acme'] })).toEqual({
    column: 'main.clients.name',
    clientIds: expect.arrayContaining(['acme', 'globex']),
    names: expect.arrayContaining([
      { clientId: 'acme', name: 'Acme' },
      { clientId: 'globex', name: 'Globex' },
    ]),
    isWhole: true,
  });
  expect((await names({ clientIds: ['acme', 'acme'] })).names).toHaveLength(1);
  expect((await names({ words: ['GLOB'] })).names).toEqual([{ clientId: 'globex', name: 'Globex' }]);
});

test('answers names in one line, without marks of direction, and cuts long ones', async () => {
  const { names: found, clientIds } = await names({ clientIds: ['long', 'bidi', 'blank', 'markup'] });
  const of = new Map(found.map(({ clientId, name }) => [clientId, name]));
  expect(of.get('long')).toBe(`${long.slice(0, 119)}…`);
  expect(of.get('bidi')).toBe('a b c');
  expect([of.has('blank'), clientIds.includes('blank')]).toEqual([false, true]);
  // Whoever shows it escapes it.
  expect(of.get('markup')).toBe('<img src=x onerror=alert(1)>');
});

test('is for the host alone: guests, other tokens and requests that name nobody are refused', async () => {
  const input = { datamartName: 'shop', clientIds: ['acme'] };
  for (const bearer of [null, 'wrong', house.serviceToken, await mint(house, 'acme')]) {
    await refused('listTenantNames AUTHENTICATION_ERROR', house, input, { bearer });
  }
  const bearer = house.apiKey;
  await refused('listTenantNames INVALID_DATAMART', house, { ...input, datamartName: 'nowhere' }, { bearer });
  const elsewhere = { ...input, datasourceName: 'nowhere' };
  await refused('listTenantNames DATASOURCE_NAME_ERROR', house, elsewhere, { bearer });
  for (const wrong of [{}, { clientIds: [] }, { words: [''] }, { clientIds: ['acme'], words: ['a'] }]) {
    await refused('listTenantNames INVALID_REQUEST_BODY', house, { datamartName: 'shop', ...wrong }, { bearer });
  }
});
