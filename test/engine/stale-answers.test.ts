/** Answers that are older than the cache keeps them: given to cards alone, marked, and read anew. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Epoch } from '../../src/model/brand.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { createBuilder, findKinds, type TableData } from './test-databases.js';
import { byClients, columnRef, createLoggedEngine, datamart, metric, type Place, question, table } from './world.js';

const columns = { client: 'VARCHAR', qty: 'BIGINT' };
const dataOf = (qty: number): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
  { name: 'sales', columns, rows: [['acme', qty]] },
];
const mart = datamart({
  ...{ tenancy: byClients(), cacheTtlSeconds: 60, cacheStaleSeconds: 3600 },
  tables: [table('sales', columns, 'client'), table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
});
const total = metric('sales', { measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('sales.qty') }] });

const isThere = (await findKinds()).includes('POSTGRES');

describe.runIf(isThere)('an answer that is older than the cache keeps answers', () => {
  let builder: Awaited<ReturnType<typeof createBuilder>>;
  let place: Place;
  let engine: Engine;
  let now: Date;
  const ask = async (parts: Partial<MetricQuestion> = {}) => {
    const { rows, asOf, isStale } = await engine.query(question(place, mart, 'acme', total, parts));
    return { sum: rows[0]?.sum, asOf, isStale };
  };
  const later = async (): Promise<void> => {
    await ask();
    // The file stays where it is: only its rows change.
    await builder.run?.(place, ['UPDATE sales SET qty = 2']);
    now = new Date(now.getTime() + 61_000);
  };

  beforeEach(async () => {
    now = new Date('2024-06-16T10:00:00Z');
    builder = await createBuilder('POSTGRES');
    place = await builder.build('stale', dataOf(1));
    const cache = {
      secret: Buffer.alloc(32, 1),
      clock: { now: () => now },
      ttlSeconds: 60,
      maxBytes: 1e6,
      shared: null,
    };
    ({ engine } = createLoggedEngine({ cache, clock: { now: () => now } }));
  });
  afterEach(async () => {
    await engine.close();
    await builder.remove();
  });

  it('is given to a card at once, says of when it is, and is read anew for the next one', async () => {
    await later();
    expect(await ask({ mayBeStale: true })).toEqual({ sum: 1, asOf: '2024-06-16T10:00:00.000Z', isStale: true });
    await expect.poll(() => ask({ mayBeStale: true }), { timeout: 20_000 }).toEqual({ sum: 2 });
  });

  it('is given to nobody who does not say that it will do', async () => {
    await later();
    expect(await ask()).toEqual({ sum: 2 });
  });

  it('is given to nobody after a revocation, and not for longer than the datamart allows', async () => {
    await later();
    expect(await ask({ mayBeStale: true, epoch: '1/0' as Epoch })).toEqual({ sum: 2 });
    now = new Date(now.getTime() + 3_600_000);
    expect(await ask({ mayBeStale: true })).toEqual({ sum: 2 });
  });
});
