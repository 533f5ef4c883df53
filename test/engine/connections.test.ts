/** Connections to a server that falls silent at an odd moment. */
import { expect, it } from 'vitest';
import { createConnectionBudget } from '../../src/engine/connections/budget.js';
import { createConnections, type Driver } from '../../src/engine/connections/connections.js';

const never = new Promise<never>(() => {});
const permits = createConnectionBudget({
  ...{ maxWaiting: 10, waitMs: 5_000, maxConnections: 1, maxConnectionsPerDatasource: 1 },
}).permitsOf('one');

it('a server that says nothing when a failed statement is rolled back holds nobody who has left', async () => {
  const ended: string[] = [];
  let isRestoring = (): void => {};
  const restoring = new Promise<void>((resolve) => {
    isRestoring = resolve;
  });
  const driver: Driver<string> = {
    connect: async () => 'first',
    begin: async () => {},
    restore: () => {
      isRestoring();
      return never;
    },
    end: async () => {},
    destroy: (connection) => void ended.push(connection),
    cancel: async () => {},
    isAnswer: () => true,
    faultOf: () => undefined,
  };
  const connections = createConnections(driver, 1, permits);
  const leaving = new AbortController();
  const asked = connections.use(async () => Promise.reject(new Error('no such column')), {
    ...{ timeoutMs: 60_000, client: 'acme', signal: leaving.signal },
  });
  await restoring;
  leaving.abort(new Error('the caller left'));
  await expect(asked).rejects.toThrow('the caller left');
  expect(new Set(ended)).toEqual(new Set(['first']));
});
