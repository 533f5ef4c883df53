import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { operations } from '../../../src/service/operations.js';
import { stays } from '../../engine/world.js';
import { bearerOf, exampleRequest } from './requests.js';
import { createSample } from './sample.js';

const { dispatch, lines } = await createSample();
const runs = { seed: 20260101, numRuns: 150 };

/** A valid body in which some fields, at any depth, are replaced by random values. */
const spoilt = (value: unknown): fc.Arbitrary<unknown> => {
  if (typeof value !== 'object' || value === null) return fc.oneof(fc.constant(value), fc.jsonValue());
  if (Array.isArray(value)) return fc.oneof(fc.tuple(...value.map(spoilt)), fc.jsonValue());
  const members = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, spoilt(inner)]));
  return fc.oneof(
    fc.record(members, { requiredKeys: [] }),
    fc
      .tuple(fc.record(members), fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }))
      .map(([a, b]) => ({ ...a, ...b })),
    fc.jsonValue(),
  );
};

describe.each(Object.entries<Operation>(operations))('%s', (_, operation) => {
  test('any request is answered or refused with a message, never with 500', async () => {
    const request = await exampleRequest(operation);
    await fc.assert(
      fc.asyncProperty(spoilt(request.body), spoilt(request.query), fc.string(), async (body, query, tail) => {
        const answer = await dispatch({
          signal: stays,
          method: request.method,
          path: request.path.replace(/LAX/, () => tail || 'x'),
          query: typeof query === 'object' && query !== null ? { ...query } : {},
          authorization: `Bearer ${bearerOf(operation)}`,
          body,
        });
        // If the random end of the path contains a slash, it is the path of another operation.
        if (answer === undefined || answer.operation !== operation.name) return;
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 200) return;
        expect(answer.body).toMatchObject({ error: { code: 'INVALID_REQUEST_BODY', status: 400 } });
        expect(JSON.stringify(answer.body).length).toBeLessThan(8000);
      }),
      runs,
    );
  });
});

test('no failure was logged', () => {
  expect(lines).toEqual([]);
});
