/** Section 5 of the interface, "Create data app". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, firstSentence, type House, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

test('creating a data app answers its name', async () => {
  const answer = await call(house, 'createDataApp', { name: 'airline' });
  expect([answer.status, answer.body]).toEqual([200, { name: 'airline' }]);
});

test('creating a second one with the same name fails: DATA_APP_ALREADY_EXISTS', async () => {
  await ok(house, 'createDataApp', { name: 'twice' });
  expect(await refused('createDataApp DATA_APP_ALREADY_EXISTS', house, { name: 'twice' })).toContain('"twice"');
  expect(await ok(house, 'createDataApp', { name: 'Twice' })).toEqual({ name: 'Twice' });
});

test('of ten simultaneous creates with one name, one succeeds', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call(house, 'createDataApp', { name: 'at-once' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
});

test.each([
  ['name is required', {}],
  ['name is a string', { name: 7 }],
  ['name is not empty', { name: '' }],
  ['name has at most 255 characters', { name: 'x'.repeat(256) }],
  ['updateName belongs to another operation', { name: 'one', updateName: 'two' }],
])('a data app that breaks a rule is refused: %s', async (_, input) => {
  await refused('createDataApp INVALID_REQUEST_BODY', house, input);
});

test('Auth: the service token; an invalid one says "invalid service token"', async () => {
  for (const bearer of [null, 'wrong', house.apiKey]) {
    const message = await refused('createDataApp AUTHENTICATION_ERROR', house, { name: 'never' }, { bearer });
    expect(firstSentence(message)).toBe('invalid service token');
  }
  expect(await ok(house, 'createDataApp', { name: 'never' })).toEqual({ name: 'never' });
});
