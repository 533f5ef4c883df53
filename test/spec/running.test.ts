/** `GET /running` and `POST /running/end`, operations of this project: what runs now. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, mint, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const id = `query.${randomUUID()}.1`;

test('answers what runs to the operator, and that a work which is not there is over', async () => {
  const bearer = house.serviceToken;
  const { data } = await ok(house, 'readRunning', {}, { bearer });
  expect(data).toMatchObject({ works: [], waitingDeliveries: { count: 0, seconds: 0 } });
  expect(await ok(house, 'endRunning', { id }, { bearer })).toMatchObject({ data: { outcome: 'over' } });
});

test('what runs is for operators alone, and for no host and no guest', async () => {
  for (const bearer of [null, 'wrong', house.apiKey, await mint(house, 'acme')]) {
    await refused('readRunning AUTHENTICATION_ERROR', house, {}, { bearer });
    await refused('endRunning AUTHENTICATION_ERROR', house, { id }, { bearer });
  }
});

test('a name that is of no work is refused with what it has to be', async () => {
  const bearer = house.serviceToken;
  for (const wrong of [{}, { id: '' }, { id: `delivery.${randomUUID()}.1` }, { id: `${id}x` }, { id, more: 1 }])
    await refused('endRunning INVALID_REQUEST_BODY', house, wrong, { bearer });
  await refused('readRunning INVALID_REQUEST_BODY', house, { more: '1' }, { bearer });
});
