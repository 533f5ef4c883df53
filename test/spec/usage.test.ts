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
    expect(data).toEqual({ rows: [], isTruncated: false, sentUntil: null });
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

const login = { at: '2026-01-01T06:00:00.000Z', clientId: 'acme', userIdentifier: 'ann', count: 3 };
const report = { writer: '3d6f0a52-9b1e-4c57-8d24-7e5a1b2c3d4f', number: 1, logins: [login] };

test('a gateway tells of logins by its key, and nobody else does', async () => {
  await ok(house, 'reportLogins', report, { bearer: house.apiKey });
  for (const bearer of [null, 'wrong', house.serviceToken, await mint(house, 'acme')])
    await refused('reportLogins AUTHENTICATION_ERROR', house, report, { bearer });
});

test('a report that does not fit is refused', async () => {
  const wrong = [
    { ...report, writer: 'w' },
    { ...report, number: 0 },
    { ...report, logins: [] },
    { ...report, logins: [{ ...login, at: 'today' }] },
    { ...report, logins: [{ ...login, count: -1 }] },
    { ...report, logins: [{ ...login, clientId: '' }] },
    { ...report, logins: Array.from({ length: 501 }, () => login) },
  ];
  for (const input of wrong) await refused('reportLogins INVALID_REQUEST_BODY', house, input, { bearer: house.apiKey });
});
