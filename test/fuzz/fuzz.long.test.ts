/**
 * Random requests, generated from the contract. The suite sends few requests from a fixed seed. `npm run fuzz` sends
 * many from a random seed, and prints the seed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type House, openHouse } from '../spec/house.js';
import { judge } from './judge.js';
import { runSequences } from './model.js';
import { sendMany } from './requests.js';
import { createWorld, type World } from './world.js';

const seed = Number(process.env.FUZZ_SEED ?? 20260101);
const count = Number(process.env.FUZZ_REQUESTS ?? 800);
/** The share of requests that sequences use. */
const inSequences = Math.round(count / 5);
const timeoutInMs = 120_000 + count * 60;

let house: House;
let world: World;
beforeAll(async () => {
  house = await openHouse();
  world = createWorld(house);
});
afterAll(async () => {
  world.close();
  await house.close();
});

describe(`seed ${seed}`, () => {
  test(
    'every single request is answered as its operation declares',
    async () => {
      const { faults, sent, succeeded, answers } = await sendMany(world, { seed, count: count - inSequences });
      if (process.env.FUZZ_REQUESTS !== undefined) console.log(`seed ${seed}: ${sent} requests`, answers);
      expect(faults).toEqual([]);
      // A run in which every request is refused would prove little.
      expect(succeeded / sent).toBeGreaterThan(0.05);
    },
    timeoutInMs,
  );

  test(
    'in every sequence of operations, what exists agrees with the model',
    async () => {
      const { sent } = await runSequences(house, { seed, count: inSequences });
      if (process.env.FUZZ_REQUESTS !== undefined) console.log(`seed ${seed}: ${sent} requests in sequences`);
      expect(sent).toBeGreaterThanOrEqual(inSequences);
    },
    timeoutInMs,
  );
});

describe('the judge can find fault', () => {
  const path = '/api/v2/data-app';
  const answer = (status: number, body: unknown, durationInMs = 1) => ({
    status,
    contentType: 'application/json; charset=utf-8',
    text: JSON.stringify(body),
    durationInMs,
  });
  const refused = (code: string, status = 400, message = 'No.') => answer(status, { error: { code, message, status } });

  test.each([
    ['a failure', refused('INTERNAL_SERVER_ERROR', 500), /failure of ours/],
    ['a code that is not declared', refused('WORKSPACE_ID_ERROR'), /not declared/],
    ['another status', refused('DATA_APP_ALREADY_EXISTS', 409), /not declared/],
    ['no envelope', answer(400, { code: 'DATA_APP_ALREADY_EXISTS' }), /no envelope/],
    ['another shape', answer(200, { id: 'x' }), /another shape/],
    ['a secret', refused('DATA_APP_ALREADY_EXISTS', 400, 'not s3cret-s3cret'), /shows a secret/],
    ['a hang', answer(200, { name: 'x' }, 10_001), /it took/],
    ['a known path that is not found', refused('NOT_FOUND', 404), /not declared/],
  ])('the judge of the fuzz run finds %s', (_, given, said) => {
    expect(judge('POST', path, given, ['s3cret-s3cret'])).toMatch(said);
  });

  test('the judge of the fuzz run finds no fault in what is declared', () => {
    expect(judge('POST', path, refused('DATA_APP_ALREADY_EXISTS'), [])).toBeUndefined();
    expect(judge('POST', path, answer(200, { name: 'x' }), [])).toBeUndefined();
    expect(judge('POST', '/api/v2/nothing', refused('NOT_FOUND', 404), [])).toBeUndefined();
  });
});
