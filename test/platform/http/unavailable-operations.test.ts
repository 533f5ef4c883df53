/** In every operation, what is away for a while is 503 with `Retry-After`, declared or not, and guests read that it passes. */
import { expect, it } from 'vitest';
import { Refusal } from '../../../src/model/refusal.js';
import { DependencyUnavailable } from '../../../src/model/unavailable.js';
import type { Operation } from '../../../src/platform/http/interface/operation.js';
import { createDispatch } from '../../../src/platform/http/wire/bind.js';
import { operations } from '../../../src/service/operations.js';
import { captureLog } from '../../gateway/harness.js';

const { log } = captureLog();
const away = new DependencyUnavailable('database-exhausted', 'The database has no free connection.');
const failures = [
  ['a database', away, 'SERVICE_UNAVAILABLE', '2'],
  ['a datasource', new Refusal('METRIC_QUERY_ERROR', 'It failed.', { cause: away }), 'METRIC_QUERY_ERROR', '2'],
  [
    'an upstream',
    new Refusal('UPSTREAM_UNAVAILABLE', 'The gateway cannot answer.', { retryAfterSeconds: 7 }),
    'SERVICE_UNAVAILABLE',
    '7',
  ],
] as const;

const paths = Object.values(operations).flatMap(({ name, bindings }: Operation) =>
  bindings.map(({ method, path }) => ({ name, method, path: path.replaceAll(/\{[^}]+\}/g, 'x') })),
);

it.each(failures)('each operation says when to retry if %s is away', async (_, error, code, retryAfter) => {
  const dispatch = createDispatch({
    operations,
    handlers: {} as never,
    authenticate: () => Promise.reject(error),
    log,
  });
  expect(paths.length).toBeGreaterThan(100);
  for (const { name, method, path } of paths) {
    const answer = await dispatch({
      ...{ method, path, query: {}, body: {}, authorization: 'Bearer x' },
      signal: new AbortController().signal,
    });
    expect([name, answer?.status, answer?.headers['Retry-After']]).toEqual([name, 503, retryAfter]);
    expect(answer?.body).toMatchObject({ error: { code, status: 503 } });
  }
});

it('a guest reads that it passes, and never that a chart cannot be shown', async () => {
  const guest = { kind: 'guest' } as never;
  const dispatch = createDispatch({
    operations,
    handlers: { listGuestEmbeds: () => Promise.reject(failures[1][1]) } as never,
    authenticate: async () => guest,
    log,
  });
  const { method = 'GET', path = '' } = operations.listGuestEmbeds.bindings[0] ?? {};
  const answer = await dispatch({
    ...{ method, path, query: {}, authorization: 'Bearer x', requestId: 'r1' },
    signal: new AbortController().signal,
  });
  expect(answer).toMatchObject({
    status: 503,
    body: { error: { message: 'This is unavailable for the moment. Try again shortly. Reference: r1.' } },
  });
});
