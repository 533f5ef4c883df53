/** Holds of clients, an operation of this project. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type House, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

describe('PUT /data-app/holds (ours)', () => {
  const none = { isAll: false, clientIds: [] };

  test('answers the version that is in force: a late call changes nothing', async () => {
    expect(await ok(house, 'holdClients', { version: '3', isAll: false, clientIds: ['acme'] })).toEqual({
      data: { version: '3' },
      error: null,
    });
    expect((await ok(house, 'holdClients', { version: '2', ...none })).data).toEqual({ version: '3' });
    expect((await ok(house, 'holdClients', { version: '4', ...none })).data).toEqual({ version: '4' });
    // Each data app counts for itself.
    const ofOther = await ok(house, 'holdClients', { version: '1', ...none }, { bearer: house.otherKey });
    expect(ofOther.data).toEqual({ version: '1' });
  });

  test('requires an API key, a version and the clients', async () => {
    const input = { version: '9', ...none };
    await refused('holdClients AUTHENTICATION_ERROR', house, input, { bearer: house.serviceToken });
    await refused('holdClients AUTHENTICATION_ERROR', house, input, { bearer: null });
    await refused('holdClients INVALID_REQUEST_BODY', house, none);
    await refused('holdClients INVALID_REQUEST_BODY', house, { ...input, version: '0' });
    await refused('holdClients INVALID_REQUEST_BODY', house, { ...input, version: 9 });
    await refused('holdClients INVALID_REQUEST_BODY', house, { ...input, clientIds: [''] });
    await refused('holdClients INVALID_REQUEST_BODY', house, {
      ...input,
      clientIds: Array.from({ length: 251 }, (_, n) => `c${n}`),
    });
  });
});
