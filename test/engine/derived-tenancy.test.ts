/**
 * Tables without a client column: invoices of customers, and their lines. As in Chinook, one of 59 customers has 38 of
 * 2,240 lines. Undeclared tables are refused.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { type Datamart, type DatamartTable, withTenancySettings } from '../../src/model/datamart/datamart.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, hasSql, type Value } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  rowsOf,
  table,
} from './world.js';

const customers = 59;
/** The last invoices belong to no customer: one customer id does not exist, and one is NULL. */
const invoiceRows = Array.from({ length: 412 }, (_, index): readonly Value[] => [
  index + 1,
  index === 410 ? 999 : index === 411 ? null : (index % customers) + 1,
  index % 2 === 0 ? 'Oslo' : 'Rome',
]);
const ofFirst = invoiceRows.flatMap(([id, customer]) => (customer === 1 ? [Number(id)] : []));
/**
 * 38 lines of the first customer, then lines of other customers, of invoices without a customer, without an invoice,
 * and of a missing invoice.
 */
const lineRows = Array.from({ length: 2240 }, (_, index): readonly Value[] => {
  const others = invoiceRows.flatMap(([id, customer]) => (customer === 1 ? [] : [Number(id)]));
  const invoice = index < 38 ? ofFirst[index % ofFirst.length] : others[index % others.length];
  return [index + 1, index === 2238 ? null : index === 2239 ? 9999 : (invoice ?? null), (index % 5) + 1, 100];
});

const data = [
  {
    name: 'customers',
    columns: { id: 'BIGINT', name: 'VARCHAR' },
    rows: Array.from({ length: customers }, (_, index) => [index + 1, `c${index + 1}`]),
  },
  { name: 'invoices', columns: { id: 'BIGINT', customer: 'BIGINT', city: 'VARCHAR' }, rows: invoiceRows },
  { name: 'lines', columns: { id: 'BIGINT', invoice: 'BIGINT', track: 'BIGINT', cents: 'BIGINT' }, rows: lineRows },
  {
    name: 'notes',
    columns: { line: 'BIGINT', word: 'VARCHAR' },
    rows: [1, 2, 39, 40, null, 5000].map((line) => [line, '12']),
  },
  {
    name: 'tracks',
    columns: { id: 'BIGINT', album: 'BIGINT', title: 'VARCHAR' },
    rows: [1, 2, 3, 4, 5].map((id) => [id, id % 2, `t${id}`]),
  },
  {
    name: 'albums',
    columns: { id: 'BIGINT', title: 'VARCHAR' },
    rows: [
      [0, 'even'],
      [1, 'odd'],
    ],
  },
];
const tables = data.map(({ name, columns }) => table(name, columns as unknown as Readonly<Record<string, string>>));
const relationships = [
  relationship('lines.invoice', 'invoices.id'),
  relationship('invoices.customer', 'customers.id'),
  relationship('lines.track', 'tracks.id'),
  relationship('tracks.album', 'albums.id'),
  relationship('notes.line', 'lines.id'),
];
const mart = datamart({
  tenancy: { ...byClients('NUMBER'), tableName: 'customers' } as NonNullable<Datamart['tenancy']>,
  tables,
  relationships,
  sharedTables: ['tracks', 'albums'],
});

const count = { name: 'n', aggregate: 'COUNT' } as const;
const counted = (from: string, parts: Parameters<typeof metric>[1] = {}) =>
  metric(from, { measures: [count], ...parts });
const inSql = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'n' }] },
  ...{ filters: [], rlsVariables: [], sort: [], limit: null },
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  const { engine }: { engine: Engine } = createLoggedEngine();
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('shop', data);
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await builder?.remove();
  });

  const asked = (
    definition: MetricDefinition,
    parts: Partial<MetricQuestion> & { readonly of?: Datamart; readonly client?: string } = {},
  ): MetricQuestion => {
    const { of = mart, client = '1', ...rest } = parts;
    return question(place, of, client, definition, rest);
  };
  const rows = async (...of: Parameters<typeof asked>) => (await engine.query(asked(...of))).rows;
  const numberOf = async (...of: Parameters<typeof asked>): Promise<number> => Number((await rows(...of))[0]?.n);

  it('one customer counts 38 lines, not all 2,240, and none without an owner', async () => {
    expect(await numberOf(counted('lines'))).toBe(38);
    expect(await numberOf(counted('invoices'))).toBe(ofFirst.length);
    expect(await numberOf(counted('customers'))).toBe(1);
    expect(await numberOf(counted('notes'))).toBe(2);
    expect(await numberOf(counted('tracks'))).toBe(5);
    expect(await numberOf(counted('lines'), { client: '999' })).toBe(0);
  });

  it('each customer counts the lines of its own invoices', async () => {
    const clients = ['1', '2', '3', '57', '58', '59', '999'];
    const counts = await Promise.all(clients.map((client) => numberOf(counted('lines'), { client })));
    const linesOf = (client: string): number => {
      const own = new Set(invoiceRows.flatMap(([id, customer]) => (String(customer) === client ? [id] : [])));
      return lineRows.filter(([, invoice]) => own.has(invoice ?? null)).length;
    };
    expect(counts).toEqual([38, ...clients.slice(1, -1).map(linesOf), 0]);
  });

  it.each(['LEFT JOIN', 'RIGHT JOIN', 'INNER JOIN', 'FULL JOIN'] as const)(
    'on both sides of a %s, only own rows are read',
    async (join) => {
      const joined = {
        ...mart,
        relationships: [relationship('lines.invoice', 'invoices.id', join), ...relationships.slice(1)],
      };
      const byCity = counted('lines', { dimensions: [{ name: 'city', column: columnRef('invoices.city') }] });
      if (kind === 'MYSQL' && join === 'FULL JOIN') {
        const refusal = await refusalOf(() => rows(byCity, { of: joined }));
        expect(refusal.reason).toBe('full-join-unsupported');
        return;
      }
      const answered = await rows(byCity, { of: joined });
      expect(answered.reduce((sum, { n }) => sum + Number(n), 0)).toBe(38);
    },
  );

  it('the same holds in a worksheet, underlying rows, options, conditions and buckets', async () => {
    expect(
      await numberOf(counted('lines'), {
        joinModel: 'single',
        of: {
          ...mart,
          relationships: relationships.slice(0, 4),
          tables: tables.filter(({ tableName }) => tableName !== 'notes'),
        },
      }),
    ).toBe(38);
    const underlying = metric('lines', { measures: [count], underlying: [columnRef('lines.id')] });
    expect((await engine.underlying(asked(underlying, { limit: 1000 }))).rows).toHaveLength(38);
    const options = { ...asked(counted('lines')), column: at(place, columnRef('lines.invoice')), search: null };
    expect((await engine.options(options)).map(Number).toSorted((a, b) => a - b)).toEqual(ofFirst);
    const even = condition('albums.title', { kind: 'compare', operator: '=', value: 'even' });
    expect(await numberOf(counted('lines'), { conditions: [even] })).toBe(
      lineRows.slice(0, 38).filter(([, , track]) => Number(track) % 2 === 0).length,
    );
    const noted = condition('notes.word', { kind: 'compare', operator: '=', value: '12' });
    expect(await numberOf(counted('lines'), { conditions: [noted] })).toBe(2);
    const buckets = await rows(
      counted('lines', { dimensions: [{ name: 'b', column: columnRef('lines.id'), bucketCount: 4 }] }),
    );
    expect(buckets.reduce((sum, { n }) => sum + Number(n), 0)).toBe(38);
  });

  it('a download has the same rows', async () => {
    const streamed = await rowsOf(await engine.stream(asked(counted('lines'))));
    expect(streamed.map(([n]) => Number(n))).toEqual([38]);
  });

  it.runIf(hasSql(kind))("the same holds in the host's SQL, and in conditions with SQL", async () => {
    const inTheirs = `SELECT count(*) AS n FROM lines JOIN tracks ON tracks.id = lines.track`;
    expect(await numberOf(inSql(inTheirs))).toBe(38);
    const own = condition('tracks.id', { kind: 'inQuery', sql: 'SELECT line FROM notes', columnName: 'line' } as never);
    expect(await numberOf(counted('tracks'), { conditions: [own] })).toBe(2);
  });

  it.runIf(hasSql(kind))("the host's SQL is not evaluated on rows of others", async () => {
    const custom = {
      columnName: 'half',
      datatype: '',
      alias: '',
      label: '',
      isHide: false,
      isApplyTimezone: false,
      isCustomColumn: true,
      sql: 'cents / 2',
    };
    const of = {
      ...mart,
      tables: tables.map(
        (one): DatamartTable => (one.tableName === 'lines' ? { ...one, columns: [...one.columns, custom] } : one),
      ),
    };
    const sum = metric('lines', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('lines.half') }] });
    expect(await numberOf(sum, { of })).toBe(38 * 50);
  });

  it.each<[string, Partial<Datamart>, string, string]>([
    ['nothing declared', { relationships: [] }, 'lines', 'table-no-owner'],
    ['a lookup that is not listed', { sharedTables: [] }, 'tracks', 'table-no-owner'],
    [
      'no cardinality',
      { relationships: [relationship('lines.invoice', 'invoices.id', null, null), ...relationships.slice(1)] },
      'lines',
      'table-cardinality-unknown',
    ],
    [
      'two paths',
      { relationships: [...relationships, { ...relationship('lines.id', 'invoices.id'), relationshipName: 'other' }] },
      'lines',
      'table-several-paths',
    ],
    ['a shared table between', { sharedTables: ['tracks', 'albums', 'invoices'] }, 'lines', 'table-no-owner'],
    [
      'columns of two types',
      { relationships: [relationship('notes.word', 'lines.id'), ...relationships.slice(0, 4)] },
      'notes',
      'tenancy-join-types',
    ],
  ])('refuses %s by name', async (_, parts, from, reason) => {
    const refused = await refusalOf(() => engine.query(asked(counted(from), { of: datamart({ ...mart, ...parts }) })));
    expect(refused).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason });
    expect(refused?.message).toContain(`main.${from}`.replace('main', place.schemaName));
  });

  it('uses tenancyPath to choose the path', async () => {
    const two = [...relationships, { ...relationship('lines.id', 'invoices.id'), relationshipName: 'other' }];
    const chosen = (tenancyPath: string): Datamart => ({
      ...mart,
      relationships: two,
      tables: tables.map((one) => (one.tableName === 'lines' ? { ...one, tenancyPath } : one)),
    });
    expect(await numberOf(counted('lines'), { of: chosen('lines.invoice-invoices.id') })).toBe(38);
    expect(await numberOf(counted('lines'), { of: chosen('other') })).toBe(ofFirst.length);
  });

  it('a client column that an embed adds can only narrow the rows', async () => {
    const narrowed = (name: string, clientColumn: string) => withTenancySettings(mart, [{ name, clientColumn }]);
    expect(await numberOf(counted('lines'), { of: narrowed('lines', 'track') })).toBe(
      lineRows.slice(0, 38).filter(([, , track]) => track === 1).length,
    );
    expect(await numberOf(counted('lines'), { of: narrowed('invoices', 'id') })).toBe(
      lineRows.slice(0, 38).filter(([, invoice]) => invoice === 1).length,
    );
    const bare = withTenancySettings(
      {
        ...mart,
        relationships: relationships.filter(({ relationshipName }) => !relationshipName.startsWith('invoices')),
      },
      [{ name: 'invoices', clientColumn: 'customer' }],
    );
    expect(await numberOf(counted('invoices'), { of: bare })).toBe(ofFirst.length);
    expect(await refusalOf(() => engine.query(asked(counted('lines'), { of: bare })))).toMatchObject({
      reason: 'table-no-owner',
    });
  });
});
