/**
 * Limits of a question: it ends in the database too when its caller disconnects, an answer has a maximum size, and a
 * download is read only as fast as its reader takes it.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { endSessions, isServer, sessionsOf } from './sessions.js';
import { type Builder, createBuilder, findKinds, type Kind } from './test-databases.js';
import {
  columnRef,
  createLoggedEngine,
  datamart,
  type LogLine,
  metric,
  type Place,
  question,
  refusalOf,
  rowsOf,
  table,
} from './world.js';

/** Servers end a statement with a delay. */
const patience = { timeout: 20_000, interval: 50 };

const many = 20_000;
const series: Readonly<Record<Kind, (count: number) => string>> = {
  DUCKDB: (count) => `range(1, ${count + 1}) AS s(n)`,
  POSTGRES: (count) => `generate_series(1, ${count}) AS s(n)`,
  MYSQL: (count) => `(SELECT seq AS n FROM seq_1_to_${count}) AS s`,
  CLICKHOUSE: (count) => `(SELECT number + 1 AS n FROM numbers(${count})) AS s`,
  SQLITE: (count) =>
    `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT ${count}) SELECT CAST(n AS INTEGER) AS n FROM s) AS s`,
};
const slow: Readonly<Record<Kind, string>> = {
  DUCKDB: `SELECT CAST(count(*) AS VARCHAR) AS text FROM range(10000000) a, range(10000000) b WHERE a.range % 7 = b.range`,
  POSTGRES: 'SELECT pg_sleep(60)::text AS text',
  MYSQL: 'SELECT SLEEP(60) AS text',
  CLICKHOUSE: 'SELECT toString(count()) AS text FROM numbers(10000000000000) WHERE number % 7 = 8',
  SQLITE: 'WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT CAST(max(n) AS TEXT) AS text FROM s',
};

const viewsOf = (kind: Kind): readonly string[] => [
  `CREATE VIEW slow AS ${slow[kind]}`,
  `CREATE TABLE many AS SELECT CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END AS client, n AS id FROM ${series[kind](many)}`,
  // The first rows are small; a later row is ten times larger than the tests' limit.
  kind === 'SQLITE'
    ? `CREATE TABLE wide AS SELECT n AS id, CAST(replace(hex(zeroblob(500 * CASE n WHEN 4 THEN 10000 ELSE 1 END)), '00', 'xx') AS TEXT) AS text FROM ${series[kind](6)}`
    : `CREATE VIEW wide AS SELECT n AS id, repeat(repeat('x', 1000), CASE n WHEN 4 THEN 10000 ELSE 1 END) AS text FROM ${series[kind](6)}`,
];

const mart = datamart({
  tenancy: null,
  tables: [
    table('slow', { text: 'VARCHAR' }),
    table('many', { id: 'BIGINT', client: 'VARCHAR' }),
    table('wide', { id: 'BIGINT', text: 'VARCHAR' }),
  ],
});
const slowly = metric('slow', { dimensions: [{ name: 'text', column: columnRef('slow.text') }] });
const ids = metric('many', { dimensions: [{ name: 'id', column: columnRef('many.id') }] });
const wide = metric('wide', {
  dimensions: ['id', 'text'].map((name) => ({ name, column: columnRef(`wide.${name}`) })),
  underlying: ['id', 'text'].map((name) => columnRef(`wide.${name}`)),
});

const limits = { answerRows: 100, answerBytes: 1_000_000 };

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let lines: LogLine[];

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('running', viewsOf(kind));
    ({ engine, lines } = createLoggedEngine({ limits, queue: { running: 9, runningPerClient: 9 } }));
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (definition: MetricQuestion['definition'], parts: Partial<MetricQuestion> = {}) =>
    question(place, mart, 'None', definition, parts);

  /** Returns the engine's statements that the database is running. DuckDB cannot be asked. */
  const running = async (pattern: RegExp): Promise<readonly string[]> =>
    isServer(place.datasource)
      ? (await sessionsOf(place.datasource)).map(({ state }) => state).filter((state) => pattern.test(state))
      : [];
  const isSlow = /gl_|in transaction/i;
  const begun = async (count: number): Promise<void> => {
    if (isServer(place.datasource))
      await vi.waitFor(async () => expect(await running(isSlow)).toHaveLength(count), patience);
  };
  const ended = () => vi.waitFor(async () => expect(await running(isSlow)).toEqual([]), patience);

  const logged = { tenant: undefined, datasource: 'warehouse', reason: 'caller-gone' };
  /** One line for each caller, wherever its query was. */
  const stoppedOf = (requestId: string) =>
    lines.map(({ details }) => details).filter((details) => Reflect.get(details, 'requestId') === requestId);

  describe('a caller that disconnects', () => {
    it.each(['query', 'underlying', 'options', 'stream'] as const)('ends its %s at the database', async (read) => {
      const gone = new AbortController();
      const requestId = `${kind}-${read}`;
      const reads = engine.until(Object.assign(gone.signal, { requestId }));
      const of = { ...asked({ ...slowly, underlying: [columnRef('slow.text')] }), search: null };
      const ask = { ...of, column: { ...columnRef('slow.text'), schemaName: place.schemaName } };
      const refusal = refusalOf(() => reads[read](ask));
      await begun(1);
      gone.abort();
      expect(await refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'caller-gone' });
      await ended();
      expect(stoppedOf(requestId)).toEqual([{ event: 'query.stopped', ...logged, requestId }]);
      expect((await engine.query(asked(ids))).rows).toHaveLength(100);
    });

    it('leaves the queue, but what it started for others continues', async () => {
      const [first, last] = [new AbortController(), new AbortController()];
      const busy = Array.from({ length: 3 }, () => refusalOf(() => engine.until(first.signal).query(asked(slowly))));
      await begun(3);
      const requestId = `${kind}-waiting`;
      const signal = Object.assign(last.signal, { requestId });
      const waiting = refusalOf(() => engine.until(signal).query(asked(slowly)));
      last.abort();
      expect(await waiting).toMatchObject({ reason: 'caller-gone' });
      expect(stoppedOf(requestId)).toHaveLength(1);
      await begun(3);
      first.abort();
      expect((await Promise.all(busy)).map(({ reason }) => reason)).toEqual(Array(3).fill('caller-gone'));
      await ended();
    });

    it('before its question starts, no query is started', async () => {
      const reads = engine.until(AbortSignal.abort());
      expect(await refusalOf(() => reads.query(asked(ids)))).toMatchObject({ reason: 'caller-gone' });
      expect(await refusalOf(() => reads.stream(asked(ids)))).toMatchObject({ reason: 'caller-gone' });
    });
  });

  describe('the size of an answer', () => {
    it('has a maximum number of rows, and says if it was reached', async () => {
      const answer = await engine.query(asked(ids));
      expect(answer).toMatchObject({ totalRecords: many, isTruncated: true });
      expect(answer.rows).toHaveLength(100);
      const last = await engine.query(asked(ids, { offset: many - 100 }));
      expect([last.rows.length, last.isTruncated]).toEqual([100, undefined]);
    });

    it('has this maximum whatever limit the question has', async () => {
      const answer = await engine.query(asked(ids, { limit: 1000 }));
      expect([answer.rows.length, answer.isTruncated]).toEqual([100, true]);
    });

    it('a limit of the question or the metric does not count as truncated', async () => {
      expect((await engine.query(asked(ids, { limit: 7 }))).isTruncated).toBeUndefined();
      const capped = await engine.query(asked({ ...ids, limit: 7 }));
      expect([capped.totalRecords, capped.isTruncated]).toEqual([7, undefined]);
    });

    it.each(['query', 'underlying'] as const)(
      'has a maximum number of bytes: a %s ends before the row that is too large',
      async (read) => {
        const answer = await engine[read](asked(wide));
        expect(answer.rows.map(({ id }) => id)).toEqual([1, 2, 3]);
        expect(answer).toMatchObject({ totalRecords: 6, isTruncated: true });
        expect((await engine[read](asked(wide, { limit: 6, offset: 4 }))).rows.map(({ id }) => id)).toEqual([5, 6]);
        const first = await engine[read](asked(wide, { limit: 2, offset: 3 }));
        expect(first).toMatchObject({ rows: [], totalRecords: 6, isTruncated: true });
      },
    );

    it('the maximum also applies to options', async () => {
      const column = { ...columnRef('wide.text'), schemaName: place.schemaName };
      const values = await engine.options({ ...asked(wide), column, search: null });
      expect(values).toEqual(['x'.repeat(1000)]);
    });
  });

  describe('a stream', () => {
    it('has every row once, in order, in several batches', async () => {
      const stream = await engine.stream(asked(ids));
      expect(stream.columns).toEqual([{ name: 'id', dataType: 'number' }]);
      const sizes: number[] = [];
      const seen: unknown[] = [];
      for await (const batch of stream.batches) {
        sizes.push(batch.length);
        seen.push(...batch.map(([id]) => id));
      }
      expect(seen).toEqual(Array.from({ length: many }, (_, index) => index + 1));
      expect(sizes.length).toBeGreaterThan(1);
    });

    it('obeys the limits of question and metric, and has its columns even without rows', async () => {
      const rowsIn = async (of: MetricQuestion) => rowsOf(await engine.stream(of));
      expect(await rowsIn(asked(ids, { limit: 2, offset: 5 }))).toEqual([[6], [7]]);
      expect(await rowsIn(asked({ ...ids, limit: 3 }))).toEqual([[1], [2], [3]]);
      const none = await engine.stream(asked({ ...ids, limit: 0 }));
      expect([none.columns.map(({ name }) => name), await rowsOf(none)]).toEqual([['id'], []]);
    });

    it('a stream whose reader stops releases its connection', async () => {
      for (let round = 0; round < 4; round += 1) {
        for await (const batch of (await engine.stream(asked(ids))).batches) {
          expect(batch.length).toBeGreaterThan(0);
          break;
        }
      }
      // Downloads that are never read, four times as many as there are connections.
      for (let round = 0; round < 4; round += 1) {
        const stream = await engine.stream(asked(ids));
        await stream.batches[Symbol.asyncIterator]().return?.();
      }
      await ended();
      expect((await engine.query(asked(ids))).rows).toHaveLength(100);
    });

    it('a stream whose caller disconnects ends early, and releases its connection', async () => {
      const gone = new AbortController();
      const streams = await Promise.all(Array.from({ length: 2 }, () => engine.until(gone.signal).stream(asked(ids))));
      gone.abort();
      for (const stream of streams)
        expect(await refusalOf(() => rowsOf(stream))).toMatchObject({
          code: 'METRIC_QUERY_ERROR',
          reason: 'caller-gone',
        });
      await ended();
      expect((await engine.query(asked(ids))).rows).toHaveLength(100);
    });

    it("a stream that fails throws without the driver's text", async () => {
      if (!isServer(place.datasource)) return;
      const { datasource } = place;
      const stream = await engine.stream(asked(ids));
      await endSessions(datasource);
      const refusal = await refusalOf(() => rowsOf(stream));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'datasource-lost' });
      expect(refusal.message).not.toMatch(/terminat|connection|kill/i);
      expect((await engine.query(asked(ids))).rows).toHaveLength(100);
    });

    it('refuses a row that is larger than the maximum of an answer', async () => {
      const refusal = await refusalOf(async () => rowsOf(await engine.stream(asked(wide))));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'row-too-large' });
      expect((await engine.query(asked(ids))).rows).toHaveLength(100);
    });
  });

  it('every cancellation on the server succeeded', () => {
    expect(lines.filter(({ message }) => message.includes('could not be cancelled'))).toEqual([]);
  });
});
