/** `GET /usage` and `GET /usage/csv`, operations of this project: what was used. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, mint, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const time = { from: '2026-01', to: '2026-02' };

test('answers the sums of a time to the operator, and to the host of a data app', async () => {
  for (const bearer of [house.serviceToken, house.apiKey]) {
    const { data } = await ok(house, 'readUsage', { ...time, by: 'tenant,user', step: 'day' }, { bearer });
    expect(data).toEqual({ rows: [], isTruncated: false });
  }
});

test('the use is for operators and hosts, and for no guest', async () => {
  for (const bearer of [null, 'wrong', await mint(house, 'acme')]) {
    await refused('readUsage AUTHENTICATION_ERROR', house, time, { bearer });
    await refused('exportUsage AUTHENTICATION_ERROR', house, time, { bearer });
  }
});

test('a time that does not fit, and a data app that is not there, are refused', async () => {
  const bearer = house.serviceToken;
  for (const wrong of [{}, { to: '2026-01' }, { by: 'nobody' }, { step: 'week' }, { from: '2026-02-31' }]) {
    const input = 'to' in wrong || 'by' in wrong || 'step' in wrong || 'from' in wrong ? { ...time, ...wrong } : wrong;
    await refused('readUsage INVALID_REQUEST_BODY', house, input, { bearer });
    await refused('exportUsage INVALID_REQUEST_BODY', house, input, { bearer });
  }
  const elsewhere = { ...time, dataAppName: 'nowhere' };
  await refused('readUsage DATA_APP_NOT_FOUND', house, elsewhere, { bearer });
  await refused('exportUsage DATA_APP_NOT_FOUND', house, elsewhere, { bearer });
});
