/** What is proposed as a first dashboard where no row was read. */
import { describe, expect, test } from 'vitest';
import { chooseRestriction } from '../../src/cli/init/restrict.js';
import type { DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import { factsWithoutRows } from '../../src/model/dashboard/first/facts.js';
import {
  type FirstDashboard,
  type FirstMetric,
  firstDashboard,
  layOut,
  metricOf,
} from '../../src/model/dashboard/first/first-dashboard.js';
import { restrictionChoices } from '../../src/model/dashboard/first/restriction.js';
import { rolesOf } from '../../src/model/dashboard/first/roles.js';
import type { Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import type { TableOwnership } from '../../src/model/datamart/table-ownership.js';
import { withFunnel } from '../../src/model/query/first/stages.js';
import { byClients, relationship, table } from '../engine/world.js';

const sales = table(
  'sales',
  {
    id: 'BIGINT',
    client: 'VARCHAR',
    sold_at: 'TIMESTAMP',
    amount: 'DECIMAL(9,2)',
    region: 'VARCHAR',
    salary: 'BIGINT',
  },
  'client',
);
const vault = table('vault', { opened: 'TIMESTAMP', amount: 'BIGINT' });
const sourceOf = ({ schemaName, tableName, columns }: DatamartTable): SourceTable => ({
  schemaName,
  tableName,
  columns: columns.map(({ columnName, datatype }) => ({ columnName, datatype, isNullable: false })),
  primaryKey: tableName === 'sales' ? ['id'] : [],
  uniqueKeys: [],
  foreignKeys: [],
});
const mart = (...tables: DatamartTable[]): Datamart => ({
  ...{ id: 'm', name: 'm', datasourceId: 'd', tenancy: byClients(), relationships: [], sharedTables: [] },
  ...{ tables, createdAt: new Date(0), updatedAt: new Date(0) },
});
const owned = (one: DatamartTable): TableOwnership => ({
  table: one,
  tenancy: { kind: 'column', columnName: 'client' },
});
const factsOf = (datamart: Datamart, ...ownerships: TableOwnership[]) =>
  factsWithoutRows(
    datamart,
    ownerships,
    (ref) => datamart.tables.filter(({ tableName }) => tableName === ref.tableName).map(sourceOf)[0],
  );
const propose = (...ownerships: TableOwnership[]) => {
  const datamart = mart(...ownerships.map((one) => one.table));
  return firstDashboard(datamart, factsOf(datamart, ...ownerships));
};

describe('a first dashboard without facts of rows', () => {
  test('has single values, counts over time, groups, a table, and filters, apart on twelve columns', () => {
    const { metrics, filters } = propose(owned(sales));
    expect(new Set(metrics.map(({ shape }) => shape))).toEqual(new Set(['value', 'time', 'groups', 'table']));
    expect(metrics.map(({ name }) => name)).toContain('Revenue: top 10 by region');
    expect(filters.map(({ applyOnTables: [column] }) => column?.columnName)).toEqual(['sold_at', 'region']);
    const cards = layOut(metrics);
    for (const a of cards) {
      expect(a.x + a.w).toBeLessThanOrEqual(12);
      for (const b of cards)
        if (a !== b) expect(a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h).toBe(true);
    }
  });

  test('counts over time by the grain that the datamart says of the date', () => {
    const said = (name: string) => (name === 'sold_at' ? { defaultGrain: 'quarter' as const } : {});
    const columns = sales.columns.map((column) => ({ ...column, ...said(column.columnName) }));
    const grains = (one: DatamartTable) =>
      propose(owned(one)).metrics.flatMap(({ definition }) =>
        definition.dimensions.flatMap(({ grain }) => grain ?? []),
      );
    expect(new Set(grains(sales))).toEqual(new Set(['month']));
    expect(new Set(grains({ ...sales, columns }))).toEqual(new Set(['quarter']));
  });

  test('shows nothing that the datamart hides, and no table that nobody may read', () => {
    const hidden = {
      ...sales,
      columns: sales.columns.map((one) => ({ ...one, isHide: ['salary', 'region'].includes(one.columnName) })),
    };
    const text = JSON.stringify(propose(owned(hidden)));
    expect(text).toContain('sold_at');
    expect(text).not.toMatch(/salary|region/i);
    const unreadable: TableOwnership = {
      table: vault,
      tenancy: { kind: 'unreadable', reason: 'no-owner', message: 'nobody owns its rows' },
    };
    expect(propose(unreadable)).toEqual({ metrics: [], filters: [] });
    expect(propose({ ...owned(vault), table: { ...vault, isHide: true } })).toEqual({ metrics: [], filters: [] });
    expect(JSON.stringify(propose(owned(sales), unreadable))).not.toContain('vault');
  });
});

describe('the restriction of a first dashboard', () => {
  // Tickets have a department and logs; payments belong to the same clients.
  const tickets = table(
    'tickets',
    { id: 'BIGINT', client: 'VARCHAR', opened: 'TIMESTAMP', department: 'VARCHAR' },
    'client',
  );
  const logs = table('logs', { id: 'BIGINT', ticket: 'BIGINT', logged: 'TIMESTAMP', minutes: 'BIGINT' });
  const payments = table(
    'payments',
    { id: 'BIGINT', client: 'VARCHAR', paid: 'TIMESTAMP', amount: 'BIGINT' },
    'client',
  );
  const clients = table('clients', { id: 'VARCHAR', name: 'VARCHAR' });
  const toOne = (of: string, to: string) => ({ ...relationship(of, to), cardinality: 'ManyToOne' as const });
  const datamart: Datamart = {
    ...mart(clients, tickets, logs, payments),
    relationships: [
      toOne('tickets.client', 'clients.id'),
      toOne('payments.client', 'clients.id'),
      toOne('logs.ticket', 'tickets.id'),
    ],
  };
  const chart = (name: string, from: DatamartTable): FirstMetric => ({
    ...{ metricId: name, name, shape: 'value' },
    definition: metricOf({ from: { schemaName: from.schemaName, tableName: from.tableName } }),
  });
  const filterNamed = (name: string, tableName: string): DashboardFilter => ({
    ...{ name, dataType: 'string' },
    applyOnTables: [{ schemaName: 'main', tableName, columnName: name.toLowerCase(), dataType: 'string' }],
  });
  const dashboard = {
    metrics: [chart('Tickets', tickets), chart('Minutes', logs), chart('Revenue', payments)],
    filters: [],
  };
  const facts = factsOf(datamart, owned(tickets), owned(payments), {
    table: logs,
    tenancy: { kind: 'column', columnName: 'client' },
  });

  test('is the category that narrows most charts, and hides those that it says nothing of', () => {
    const [best] = restrictionChoices(datamart, facts, dashboard);
    expect(best).toMatchObject({
      column: 'main.tickets.department',
      restriction: {
        filter: { name: 'Department' },
        hidden: [
          { name: 'Revenue', reason: 'rows of main.payments and main.tickets have only main.clients in common' },
        ],
      },
    });
  });

  test('reaches rows from above: a ticket by its logs, but no payment by the tickets of its client', () => {
    const byLogs = { ...dashboard, metrics: [chart('Tickets', tickets)] };
    expect(restrictionChoices(datamart, facts, byLogs)[0]?.restriction.hidden).toEqual([]);
    expect(restrictionChoices(datamart, facts, { ...dashboard, metrics: [chart('Revenue', payments)] })).toEqual([]);
  });

  test('has the name of its table where another table has a category of the same name', () => {
    const invoices = table('invoices', { id: 'BIGINT', client: 'VARCHAR', department: 'VARCHAR' }, 'client');
    const model: Datamart = {
      ...datamart,
      tables: [...datamart.tables, invoices],
      relationships: [...datamart.relationships, toOne('invoices.client', 'clients.id')],
    };
    const both = { ...dashboard, metrics: [...dashboard.metrics, chart('Invoices', invoices)] };
    const known = factsOf(model, ...[tickets, logs, payments, invoices].map(owned));
    expect(restrictionChoices(model, known, both).map(({ restriction: { filter } }) => filter.name)).toEqual([
      'Ticket department',
      'Invoice department',
    ]);
  });

  test('may be a column of any table to which a way leads from a chart, by its name', () => {
    const desks = table('desks', { id: 'BIGINT', client: 'VARCHAR', name: 'VARCHAR', department: 'VARCHAR' }, 'client');
    const model: Datamart = {
      ...datamart,
      tables: [...datamart.tables, desks],
      relationships: [
        ...datamart.relationships,
        toOne('desks.client', 'clients.id'),
        toOne('tickets.desk', 'desks.id'),
      ],
    };
    const ownerships = [tickets, logs, payments, desks].map(owned);
    const named = (name: string, on: Partial<FirstDashboard> = {}) =>
      chooseRestriction(name, model, factsOf(model, ...ownerships), { ...dashboard, ...on });
    expect(named('desks.name')).toEqual({
      filter: {
        ...{ name: 'Desk', dataType: 'string' },
        applyOnTables: [{ schemaName: 'main', tableName: 'desks', columnName: 'name', dataType: 'string' }],
      },
      hidden: [{ name: 'Revenue', reason: 'several ways lead from main.payments to main.desks' }],
    });
    const filters = [filterNamed('Department', 'tickets')];
    expect(named('desks.department', { filters })?.filter.name).toBe('Desk department');
    expect(named('tickets.department', { filters })?.filter).toBe(filters[0]);
    expect(() => named('desks.name', { metrics: [chart('Revenue', payments)] })).toThrow(
      'no chart can be narrowed by it (several ways lead from main.payments to main.desks)',
    );
    expect(() => named('nothing')).toThrow('the categories are: main.tickets.department');
  });
});

test('the date in the key of a partitioned table is the date of its rows', () => {
  const key = (primaryKey: readonly string[]) => rolesOf(mart(sales), sales, primaryKey).dates;
  expect(key(['id', 'sold_at'])).toEqual(['sold_at']);
  expect(key(['sold_at'])).toEqual([]);
});

test('the latest rows have a second date, and not the one of their last change', () => {
  const dates = (second: string) =>
    propose(
      owned(table('sales', { id: 'BIGINT', client: 'VARCHAR', sold_at: 'TIMESTAMP', [second]: 'TIMESTAMP' }, 'client')),
    )
      .metrics.filter(({ shape }) => shape === 'table')
      .flatMap(({ definition }) => definition.dimensions.map(({ column }) => column?.columnName));
  expect(dates('due_on')).toContain('due_on');
  expect(dates('last_update')).not.toContain('last_update');
});

test('measurements, prices of one thing and rates have a mean, amounts add up, and keys do neither', () => {
  const numbers = {
    ...{
      weight_kg: 'DECIMAL(6,2)',
      height: 'BIGINT',
      rating: 'BIGINT',
      UnitCents: 'BIGINT',
      DiscountPct: 'DECIMAL(5,2)',
    },
    ...{ total_weight: 'BIGINT', TotalCents: 'BIGINT', hours: 'BIGINT', units: 'BIGINT' },
    ...{ film_id: 'BIGINT', latitude: 'DOUBLE', invoice_number: 'BIGINT', year: 'BIGINT' },
  };
  const { amounts, levels } = rolesOf(mart(sales), table('sales', numbers, 'client'), []);
  expect(levels).toEqual(['weight_kg', 'height', 'rating', 'UnitCents', 'DiscountPct']);
  expect(amounts).toEqual(['total_weight', 'TotalCents', 'hours', 'units']);
});

describe('a chart of stages', () => {
  const staged = (names: string): DatamartTable => {
    const made = table('jobs', { id: 'BIGINT', client: 'VARCHAR', made_at: 'TIMESTAMP', status: 'VARCHAR' }, 'client');
    const columns = made.columns.map((one) =>
      one.columnName === 'status' ? { ...one, datatype: `ENUM(${names})`, kind: 'enum' as const } : one,
    );
    return { ...made, columns };
  };
  const shown = (stages: readonly string[], counts: readonly number[]) => {
    const metric = propose(owned(staged(stages.map((one) => `'${one}'`).join(', ')))).metrics.find(
      ({ isOfStages }) => isOfStages,
    );
    if (metric === undefined) throw new Error('no chart of stages');
    const rows = stages.map((Status, at) => ({ Status, Jobs: counts[at] ?? 0 }));
    return [metric, withFunnel(metric, rows)].map(({ definition }) => definition.chart.type);
  };

  test.each([
    ['each stage has fewer rows', ['lead', 'quoted', 'won'], [90, 40, 12], 'funnel'],
    ['a stage has a few rows more', ['lead', 'quoted', 'won'], [90, 95, 12], 'funnel'],
    ['most rows are done', ['booked', 'checked_in', 'done'], [285, 801, 5148], 'bar'],
    ['rows end beside the stages', ['booked', 'done', 'no_show', 'cancelled'], [900, 800, 100, 90], 'bar'],
    ['all stages have as many rows', ['a', 'b', 'c'], [5, 5, 5], 'bar'],
    ['only two stages have rows', ['a', 'b'], [9, 5], null],
  ])('is a funnel or bars where %s', (_, stages, counts, type) => {
    if (type === null) expect(() => shown(stages, counts)).toThrow('no chart of stages');
    else expect(shown(stages, counts)).toEqual(['bar', type]);
  });
});
