/** The Chinook database, declared as a host would do it: each customer's answers equal those of hand-written SQL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import { earlierQuestion } from '../../src/model/query/comparison.js';
import { drill } from '../../src/model/query/drill.js';
import type { Cell, Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { chinook, counts, indexes } from '../fixtures/chinook.js';
import { areAlike } from '../isolation/judge.js';
import { type ByHand, connectByHand } from './by-hand.js';
import { by, lookups, mart } from './chinook-mart.js';
import { items } from './chinook-metrics.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { columnRef, createLoggedEngine, metric, type Place, question, refusalOf, relationship } from './world.js';

/** The last tenant has no invoice. */
const tenants = [1, 17, 42, counts.customers];
const everybody = Array.from({ length: counts.customers }, (_, index) => index + 1);

const invoicesOf = (tenant: number): string => `(select * from invoices where customer_id = ${tenant})`;
const allInvoices = '(select * from invoices)';

type Rows = readonly (readonly Cell[])[];
const byText = (rows: Rows): Rows =>
  rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);

/**
 * Sorts rows by their dimensions, which are the first cells. Measures are not used, since they may differ in their last
 * digits.
 */
const inOrder = (rows: Rows, dimensions: number): Rows =>
  byText(rows.map((row) => [row.slice(0, dimensions).map(String).join('|'), ...row])).map((row) => row.slice(1));

const assertAlike = (what: string, answered: Rows, expected: Rows): void => {
  const isAlike =
    answered.length === expected.length &&
    answered.every(
      (row, index) =>
        row.length === expected[index]?.length &&
        row.every((cell, column) => areAlike(cell, expected[index]?.[column])),
    );
  if (!isAlike) expect(answered, what).toEqual(expected);
};

const count = { name: 'n', aggregate: 'COUNT' } as const;
const revenue = { name: 'revenue', aggregate: 'SUM', column: columnRef('invoices.total') } as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let byHand: ByHand;
  /** The answers of hand-written SQL, as text, by item and tenant. */
  const written = new Map<string, string>();

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('chinook', kind === 'CLICKHOUSE' ? chinook : [...chinook, ...indexes]);
    byHand = await connectByHand(kind, place);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await byHand.close();
    await builder.remove();
  });

  const ask = (tenant: number, definition: MetricQuestion['definition'], parts: Partial<MetricQuestion> = {}) =>
    engine.query(question(place, mart, String(tenant), definition, parts));
  const cells = async (...asked: Parameters<typeof ask>): Promise<Rows> =>
    (await ask(...asked)).rows.map((row) => Object.values(row));

  it.each(items)(
    'Chinook answers as its own SQL does: $name',
    async ({ name, definition, conditions = [], isOrdered = false, sql }) => {
      const size = definition.dimensions.length;
      for (const tenant of tenants) {
        const answered = await cells(tenant, definition, { conditions });
        const expected = await byHand.run(sql(invoicesOf(tenant), byHand.words));
        written.set(`${name} of ${tenant}`, JSON.stringify(byText(expected)));
        if (isOrdered) assertAlike(`customer ${tenant}`, answered, expected);
        else assertAlike(`customer ${tenant}`, inOrder(answered, size), inOrder(expected, size));
      }
    },
  );

  it('every item has different answers for some customers, except items of shared tables', () => {
    for (const { name } of items) {
      const answers = tenants.map((tenant) => written.get(`${name} of ${tenant}`));
      expect(answers, name).not.toContain(undefined);
      expect(new Set(answers).size > 1, name).toBe(!name.startsWith('16b'));
    }
  });

  it('a year can be compared with the previous year', async () => {
    const column = columnRef('invoices.invoice_date');
    const predicate = { kind: 'range', from: '2024-01-01', to: '2025-01-01', toIsExclusive: true } as const;
    const conditions = [{ column, predicate }];
    const definition = metric('invoices', {
      measures: [revenue],
      comparison: { column, grain: 'year', periods: 1 },
    });
    for (const tenant of tenants) {
      // `question` renames the schema in the question, so its conditions must be read from the result.
      const asked = question(place, mart, String(tenant), definition, { conditions });
      const earlier = earlierQuestion({ ...asked, movable: asked.conditions });
      if (earlier === undefined) throw new Error('nothing is compared');
      const answers = [await engine.query(asked), await engine.query(earlier.question)];
      const year = (of: number) =>
        `(select sum(total) from ${invoicesOf(tenant)} i where extract(year from invoice_date) = ${of})`;
      const expected = await byHand.run(`select ${year(2024)}, ${year(2023)}`);
      assertAlike(`customer ${tenant}`, [answers.map(({ rows }) => rows[0]?.revenue ?? null)], expected);
    }
  });

  it('a drill leads from a country to its cities', async () => {
    const definition = metric('invoices', {
      dimensions: [by('invoices.billing_country')],
      measures: [revenue, count],
      drillPath: [by('invoices.billing_city')],
    });
    for (const tenant of tenants) {
      const countries = await cells(tenant, definition);
      expect(countries.length).toBeGreaterThan(1);
      for (const [country = null] of countries) {
        const drilled = drill(definition, [{ columnName: 'invoices.billing_country', value: country }]);
        const expected = await byHand.run(
          `select billing_city, sum(total), count(*) from ${invoicesOf(tenant)} i
           where billing_country = '${country}' group by billing_city`,
        );
        const cities = await cells(tenant, drilled.definition, { conditions: drilled.conditions });
        assertAlike(`customer ${tenant}`, inOrder(cities, 1), inOrder(expected, 1));
      }
    }
  });

  it('the answers of all customers add up to the whole', async () => {
    const of = (aggregate: 'SUM' | 'COUNT', path: string) => ({ name: path, aggregate, column: columnRef(path) });
    const definition = metric('invoice_lines', {
      measures: [revenue, of('COUNT', 'invoices.invoice_id'), count, of('SUM', 'invoice_lines.amount')],
    });
    const sums = [0, 0, 0, 0];
    for (const tenant of everybody) {
      for (const row of await cells(tenant, definition))
        for (const [index, cell] of row.entries()) sums[index] = (sums[index] ?? 0) + Number(cell);
    }
    const whole = await byHand.run(
      `select sum(i.total), count(*), (select count(*) from invoice_lines),
       (select sum(unit_price * quantity) from invoice_lines) from ${allInvoices} i`,
    );
    assertAlike('all customers', [sums.map((sum) => Number(sum.toFixed(2)))], whole);
    expect(sums[1]).toBe(counts.invoices);
    expect(sums[2]).toBe(counts.lines);
  });

  it('one customer has 38 of 2,240 invoice lines in every kind of question', async () => {
    const definition = metric('invoice_lines', {
      measures: [count],
      underlying: [columnRef('invoice_lines.invoice_line_id')],
    });
    const lineOf = columnRef('invoice_lines.invoice_line_id');
    for (const [tenant, n] of [
      [1, 38],
      [counts.customers, 36],
    ] as const) {
      expect(await cells(tenant, definition)).toEqual([[n]]);
      const asked = question(place, mart, String(tenant), definition);
      expect((await engine.underlying(asked)).totalRecords).toBe(n);
      const own = await byHand.run(
        `select l.invoice_line_id from invoice_lines l join ${invoicesOf(tenant)} i on l.invoice_id = i.invoice_id order by 1`,
      );
      const options = question(place, mart, String(tenant), definition, { limit: 100 });
      const column = { ...lineOf, schemaName: place.schemaName };
      expect(await engine.options({ ...options, column, search: null })).toEqual(own.flat());
      const sql = 'select count(*) as n, max(quantity) as most from invoice_lines';
      const statement: SqlDefinition = {
        ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'n' }, { name: 'most' }] },
        ...{ filters: [], rlsVariables: [], sort: [], limit: null },
      };
      const most = await byHand.run(
        `select max(l.quantity) from invoice_lines l join ${invoicesOf(tenant)} i on l.invoice_id = i.invoice_id`,
      );
      expect(await cells(tenant, statement)).toEqual([[n, ...most.flat()]]);
    }
  });

  it.each(lookups)('%s is refused by name if it is not shared', async (name) => {
    const sharedTables = lookups.filter((other) => other !== name).map((other) => `main.${other}`);
    const refusal = await refusalOf(() =>
      engine.query(question(place, { ...mart, sharedTables }, '1', metric(name, { measures: [count] }))),
    );
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    expect(refusal.message).toContain(`${place.schemaName}.${name}`);
  });

  it('invoice lines without a relationship to their invoice are refused by name', async () => {
    const lines = metric('invoice_lines', { measures: [count] });
    const link = columnRef('invoice_lines.invoice_id');
    const others = mart.relationships.filter(
      ({ parent }) => parent.columnName !== link.columnName || parent.tableName !== link.tableName,
    );
    // A relationship by which a line may have several invoices is not a tenancy path.
    const many = relationship('invoice_lines.invoice_id', 'invoices.invoice_id', null, 'ManyToMany');
    for (const relationships of [others, [...others, many]]) {
      const refusal = await refusalOf(() => engine.query(question(place, { ...mart, relationships }, '1', lines)));
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
      expect(refusal.message).toContain(`${place.schemaName}.invoice_lines`);
    }
  });
});
