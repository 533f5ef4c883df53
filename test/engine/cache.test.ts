/** The result cache and the fair queue with the real engine over DuckDB. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { CacheOutcome } from '../../src/engine/cache/result-cache.js';
import { createEngine, type EngineOptions } from '../../src/engine/engine.js';
import { createRows } from '../../src/engine/rows.js';
import type { Epoch } from '../../src/model/brand.js';
import { type Datamart, withTenancySettings } from '../../src/model/datamart/datamart.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { createMovableClock } from '../gateway/harness.js';
import { keyedOf, rowsOf } from '../suites/result-cache.js';
import {
  columnRef,
  condition,
  createFolder,
  datamart,
  metric,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

const log = { warn: () => {}, error: () => {} };
const secret = createHash('sha256').update('test').digest();
const folder = await createFolder();
let path: string;

beforeAll(async () => {
  path = await folder.build('shop', [
    'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
    "INSERT INTO clients VALUES ('a', 'A'), ('b', 'B')",
    'CREATE TABLE sales (client VARCHAR, place VARCHAR, amount DECIMAL(18,2), sold TIMESTAMP, big BIGINT, ok BOOLEAN, ratio DOUBLE)',
    `INSERT INTO sales VALUES
      ('a', 'x', 1.10, '2024-01-01 23:30:00', 9007199254740993, true, 0.1), ('a', 'y', 2.25, '2024-01-02 01:00:00', 2, false, 'NaN'),
      ('b', 'x', 100.00, '2024-01-01 12:00:00', 3, NULL, -0.0), ('b', NULL, 7.00, '2024-02-01 12:00:00', NULL, true, NULL)`,
    'CREATE TABLE places (place VARCHAR, label VARCHAR)',
    "INSERT INTO places VALUES ('x', 'X'), ('y', 'Y')",
  ]);
});
afterAll(() => folder.remove());

const mart: Datamart = datamart({
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table(
      'sales',
      {
        client: 'VARCHAR',
        place: 'VARCHAR',
        amount: 'DECIMAL(18,2)',
        'sold@': 'TIMESTAMP',
        big: 'BIGINT',
        ok: 'BOOLEAN',
        ratio: 'DOUBLE',
      },
      'client',
    ),
    table('places', { place: 'VARCHAR', label: 'VARCHAR' }),
  ],
  relationships: [relationship('sales.place', 'places.place')],
  sharedTables: ['main.places'],
});

const total = metric('sales', {
  measures: [{ name: 'total', aggregate: 'SUM', column: columnRef('sales.amount') }],
});
const byDay = metric('sales', {
  dimensions: [{ name: 'day', column: columnRef('sales.sold'), grain: 'day' }],
  measures: [{ name: 'count', aggregate: 'COUNT' }],
  sort: [{ name: 'day', direction: 'ASC' }],
});
const everything = metric('sales', {
  dimensions: ['place', 'amount', 'sold', 'big', 'ok', 'ratio'].map((name) => ({
    name,
    column: columnRef(`sales.${name}`),
  })),
  measures: [{ name: 'count', aggregate: 'COUNT' }],
  underlying: ['place', 'amount', 'big'].map((name) => columnRef(`sales.${name}`)),
});
const labels = metric('places', {
  dimensions: [{ name: 'label', column: columnRef('places.label') }],
  sort: [{ name: 'label', direction: 'ASC' }],
});

const clock = createMovableClock();
const open = (options: Partial<EngineOptions> = {}): { readonly engine: Engine; readonly outcomes: CacheOutcome[] } => {
  const outcomes: CacheOutcome[] = [];
  const nothing = (): void => {};
  const engine = createEngine({
    clock,
    log,
    assertReachable: async () => {},
    cache: { secret, clock, ttlSeconds: 60, maxBytes: 1e6, shared: null },
    meters: { answered: (outcome) => void outcomes.push(outcome), evicted: nothing, refused: nothing, watch: nothing },
    ...options,
  });
  onTestFinished(() => engine.close());
  return { engine, outcomes };
};

let engine: Engine;
let outcomes: CacheOutcome[];
beforeEach(() => {
  ({ engine, outcomes } = open());
});

const asks = (definition: MetricQuestion['definition'], clientId = 'a', parts: Partial<MetricQuestion> = {}) =>
  question(path, parts.datamart ?? mart, clientId, definition, parts);

describe('an answer from the cache', () => {
  it('equals the fresh one: types, order, total, and values that JSON cannot represent', async () => {
    const plain = open({ cache: undefined }).engine;
    for (const clientId of ['a', 'b']) {
      for (const parts of [
        {},
        { limit: 1 },
        { limit: 1, offset: 1 },
        { sort: [{ name: 'amount', direction: 'DESC' as const }] },
        { offset: 9 },
      ]) {
        const asked = asks(everything, clientId, parts);
        for (const how of ['query', 'underlying'] as const) {
          const fresh = await plain[how](asked);
          expect(await engine[how](asked)).toEqual(fresh);
          expect(await engine[how](asked)).toEqual(fresh);
        }
        const options = { ...asked, column: columnRef('sales.place'), search: null };
        const fresh = await plain.options(options);
        for (const _ of [1, 2]) expect(await engine.options(options)).toEqual(fresh);
      }
    }
    expect(new Set(outcomes)).toEqual(new Set(['miss', 'hit']));
  });

  it('has the column names of the metric in the question, even if another metric has the same statement', async () => {
    await engine.query(asks(total));
    const renamed = metric('sales', {
      measures: [{ name: 'revenue', aggregate: 'SUM', column: columnRef('sales.amount') }],
    });
    expect(await engine.query(asks(renamed))).toMatchObject({
      rows: [{ revenue: 3.35 }],
      columns: [{ name: 'revenue' }],
    });
    expect(outcomes).toEqual(['miss', 'hit']);
  });

  it('is not used when it is too old', async () => {
    for (const step of [0, 59_999, 1]) {
      clock.advance(step);
      await engine.query(asks(total));
    }
    expect(outcomes).toEqual(['miss', 'hit', 'miss']);
  });

  it('is never a failure: a refusal is computed each time', async () => {
    const wrong = metric('sales', { measures: [{ name: 'x', aggregate: 'SUM', column: columnRef('sales.place') }] });
    for (const _ of [1, 2]) expect((await refusalOf(() => engine.query(asks(wrong)))).code).toBe('METRIC_QUERY_ERROR');
    expect(outcomes).not.toContain('hit');
  });
});

describe('known leak 1: a cached answer is used only for the same client and the same conditions', () => {
  const rows = async (asked: MetricQuestion) => (await engine.query(asked)).rows;

  it('two clients ask the same question', async () => {
    expect(await rows(asks(total, 'a'))).toEqual([{ total: 3.35 }]);
    expect(await rows(asks(total, 'b'))).toEqual([{ total: 107 }]);
    expect(await rows(asks(total, 'a'))).toEqual([{ total: 3.35 }]);
    expect(outcomes).toEqual(['miss', 'miss', 'hit']);
  });

  it("in a table that all clients share, where even the SQL is the same, no client gets another's cached answer", async () => {
    for (const clientId of ['a', 'b'])
      expect(await rows(asks(labels, clientId))).toEqual([{ label: 'X' }, { label: 'Y' }]);
    expect(outcomes).toEqual(['miss', 'miss']);
  });

  it("without tenancy, no data app gets another's cached answer", async () => {
    const open = { ...mart, tenancy: null };
    for (const dataAppId of ['one', 'two', 'one']) {
      await rows(asks(total, 'None', { datamart: open, dataAppId }));
    }
    expect(outcomes).toEqual(['miss', 'miss', 'hit']);
  });

  it('another condition, another value, or another timezone gives another answer', async () => {
    const at = (value: string) => ({ conditions: [condition('sales.place', { kind: 'oneOf', values: [value] })] });
    expect(await rows(asks(total))).toEqual([{ total: 3.35 }]);
    expect(await rows(asks(total, 'a', at('x')))).toEqual([{ total: 1.1 }]);
    expect(await rows(asks(total, 'a', at('y')))).toEqual([{ total: 2.25 }]);
    const days = async (timezone: string | null) => (await rows(asks(byDay, 'a', { timezone }))).map(({ day }) => day);
    expect(await days(null)).toEqual(['2024-01-01', '2024-01-02']);
    expect(await days('Asia/Tokyo')).toEqual(['2024-01-02']);
    expect(await days('America/New_York')).toEqual(['2024-01-01']);
    expect(outcomes).toEqual(Array(6).fill('miss'));
  });
});

it("known leak 5: the first questions after a start, all at the same time, get each client's own rows", async () => {
  const asked = ['a', 'b', 'a', 'b', 'b', 'a'].map((clientId) => engine.query(asks(total, clientId)));
  expect((await Promise.all(asked)).map(({ rows }) => rows[0]?.total)).toEqual([3.35, 107, 3.35, 107, 107, 3.35]);
  expect(outcomes.toSorted()).toEqual([...Array(4).fill('joined'), 'miss', 'miss']);
});

describe('a cached answer is not used after a change of', () => {
  it.each<[string, Partial<MetricQuestion>]>([
    ['the datamart', { datamart: { ...mart, updatedAt: new Date(mart.updatedAt.getTime() + 1) } }],
    ['the datamart: deleted, and made anew under its name', { datamart: { ...mart, id: 'm2' } }],
    ['the epoch of the client: a revocation', { epoch: '1/0' as Epoch }],
    ['the epoch of the client: an erasure', { epoch: '0/1' as Epoch }],
  ])('a cached answer is not used after a change of %s', async (_what, change) => {
    await engine.query(asks(total));
    await engine.query(asks(total, 'a', change));
    expect(outcomes).toEqual(['miss', 'miss']);
  });

  it('the datasource: it was synced, or its connection changed', async () => {
    const asked = asks(total);
    await engine.query(asked);
    await engine.query({ ...asked, datasource: { ...asked.datasource, syncedAt: clock.now() } });
    await engine.forget('d1');
    await engine.query(asked);
    expect(outcomes).toEqual(['miss', 'miss', 'miss']);
  });

  it("an embed's tableTenancySettings, which change the statement", async () => {
    const tables = mart.tables.map((each) => (each.tableName === 'sales' ? { ...each, clientColumn: null } : each));
    const bare = { ...mart, tables, sharedTables: [...mart.sharedTables, 'main.sales'] };
    const settled = withTenancySettings(bare, [{ name: 'sales', clientColumn: 'client' }]);
    expect((await engine.query(asks(total, 'a', { datamart: bare }))).rows).toEqual([{ total: 110.35 }]);
    expect((await engine.query(asks(total, 'a', { datamart: settled }))).rows).toEqual([{ total: 3.35 }]);
  });

  it("the metric's definition, which changes the statement in the key", async () => {
    await engine.query(asks(total));
    const changed = metric('sales', {
      measures: [{ name: 'total', aggregate: 'MAX', column: columnRef('sales.amount') }],
    });
    expect((await engine.query(asks(changed))).rows).toEqual([{ total: 2.25 }]);
  });

  it('a forgotten client: only its own answers are deleted', async () => {
    for (const clientId of ['a', 'b']) await engine.query(asks(total, clientId));
    await engine.forgetClient('app', 'a');
    for (const clientId of ['a', 'b']) await engine.query(asks(total, clientId));
    expect(outcomes).toEqual(['miss', 'miss', 'miss', 'hit']);
  });
});

describe('known leak 21: one client sends a hundred times the load to a real database', () => {
  const heavy = (count: number) =>
    Array.from({ length: count }, (_, index) => asks(everything, 'a', { limit: index + 1 }));

  it("another client's query waits for at most one of the many that came earlier", async () => {
    const { engine: busy } = open({ queue: { running: 1, runningPerClient: 1 } });
    const ended: string[] = [];
    const many = heavy(100).map(async (asked) => void ended.push((await busy.query(asked)) && 'a'));
    const one = busy.query(asks(total, 'b')).then(() => ended.push('b'));
    await Promise.all([...many, one]);
    expect(ended.indexOf('b')).toBeLessThanOrEqual(2);
    expect(ended).toHaveLength(101);
  });

  it('a cached answer neither waits in the queue nor is refused because the queue is full', async () => {
    const { engine: busy, outcomes: seen } = open({
      queue: { running: 1, runningPerClient: 1, waitingPerClient: 1, waiting: 1 },
    });
    await busy.query(asks(total));
    const asked = heavy(20).map((each) => busy.query(each));
    const kept = Array.from({ length: 20 }, () => busy.query(asks(total)));
    const [many, again] = await Promise.all([Promise.allSettled(asked), Promise.all(kept)]);
    expect(new Set(again.map(({ rows }) => rows[0]?.total))).toEqual(new Set([3.35]));
    expect(many.some(({ status }) => status === 'rejected')).toBe(true);
    expect(seen.filter((outcome) => outcome === 'hit')).toHaveLength(20);
  });

  it('downloads that nobody reads use at most a third of the connections, and no query waits for them', async () => {
    const rows = createRows({ log });
    const at = { database: 'shop' };
    const read: (() => void)[] = [];
    const slow = () => new Promise<void>((end) => void read.push(end));
    const asked = ['a', 'b', 'c', 'd'].map((clientId) => rows.download(asks(total, clientId), at, slow));
    const { plan, statements, page } = keyedOf({});
    const keyed = { question: asks(total, 'e'), plan, statements, page };
    expect(await rows.load(keyed, async () => rowsOf('answered'))).toEqual(rowsOf('answered'));
    for (let ended = 1; ended <= asked.length; ended += 1) {
      expect(read).toHaveLength(ended);
      read[ended - 1]?.();
      await asked[ended - 1];
    }
  });
});
