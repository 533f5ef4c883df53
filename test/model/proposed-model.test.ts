/** The model and the first charts that are proposed for ordinary databases: of a SaaS product, and of a video rental. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { factsWithoutRows } from '../../src/model/dashboard/first/facts.js';
import { firstDashboard } from '../../src/model/dashboard/first/first-dashboard.js';
import { sameColumn, sameTable, type TableRef } from '../../src/model/datamart/datamart.js';
import { sourceKind } from '../../src/model/datamart/datatypes.js';
import { type Choices, draftByBestWays } from '../../src/model/datamart/model-draft.js';
import { currencyOf, moneyFaults } from '../../src/model/datamart/money.js';
import { proposeModel } from '../../src/model/datamart/proposed-model.js';
import { proposeFor } from '../../src/model/datamart/source-proposals.js';
import type { SourceTable } from '../../src/model/datamart/source-schema.js';
import { findWay } from '../../src/model/datamart/ways.js';

/**
 * A table of PostgreSQL. A column is its type, with `?` where it may be NULL and `> schema.table` where it is a foreign
 * key. The first column is the key.
 */
const table = (name: string, rows: number, columns: Readonly<Record<string, string>>): SourceTable => {
  const [schemaName = '', tableName = ''] = name.split('.');
  const [key = ''] = Object.keys(columns);
  return {
    ...{ schemaName, tableName, kind: 'table', primaryKey: [key], uniqueKeys: [], estimatedRows: rows },
    columns: Object.entries(columns).map(([columnName, text]) => {
      const datatype = text.replace(/\?|>.*$/g, '').trim();
      return { columnName, datatype, kind: sourceKind('POSTGRES', datatype), isNullable: text.includes('?') };
    }),
    foreignKeys: Object.entries(columns).flatMap(([column, text]) => {
      const [schema = '', other] = text.split('> ')[1]?.split('.') ?? [];
      const references = { schemaName: schema, tableName: other ?? '' };
      return other === undefined ? [] : [{ columns: [column], references, referencedColumns: ['id'] }];
    }),
  };
};

const status = "enum('todo','in_progress','review','done')";
const plan = "enum('free','team','business')";
const org = 'uuid > app.organizations';
const saas = [
  table('app.organizations', 9, { id: 'uuid', name: 'text', plan, country: 'text', created_at: 'date' }),
  table('app.users', 90, { id: 'uuid', email: 'text', full_name: 'text', department: 'text', created_at: 'date' }),
  table('app.memberships', 99, { id: 'uuid', organization_id: org, user_id: 'uuid > app.users', joined_at: 'date' }),
  table('app.Projects', 60, { id: 'uuid', organizationId: org, Name: 'text', projectType: 'text', startedOn: 'date' }),
  table('app.tasks', 900, {
    ...{ id: 'uuid', project_id: 'uuid > app.Projects', assignee_id: 'uuid? > app.users', title: 'text', status },
    ...{ priority: "enum('high','low')", created_at: 'date', completed_at: 'date?' },
  }),
  table('app.time_entries', 9_000, {
    ...{ id: 'uuid', task_id: 'uuid > app.tasks', user_id: 'uuid > app.users', started_at: 'date' },
    ...{ minutes: 'integer', is_billable: 'boolean', note: 'text?' },
  }),
  table('billing.invoices', 500, {
    ...{ id: 'uuid', organization_id: org, project_id: 'uuid? > app.Projects', number: 'text', currency: 'text' },
    ...{ status: "enum('draft','open','paid')", total_cents: 'bigint', issued_on: 'date', paid_at: 'date?' },
  }),
  table('billing.invoice_lines', 2_000, {
    ...{ id: 'uuid', invoice_id: 'uuid > billing.invoices', description: 'text', quantity: 'integer' },
    unit_price_cents: 'bigint',
  }),
  table('billing.subscriptions', 40, {
    ...{ id: 'uuid', organization_id: org, plan, status: 'text', amount_cents: 'bigint', started_at: 'date' },
  }),
  table('analytics.events', 99_000, { id: 'bigint', organization_id: org, kind: 'text', occurred_at: 'date' }),
];

const rental = [
  table('public.store', 2, { id: 'integer', manager_staff_id: 'integer > public.staff' }),
  table('public.staff', 2, { id: 'integer', first_name: 'text', email: 'text', store_id: 'integer > public.store' }),
  table('public.customer', 600, { id: 'integer', store_id: 'integer > public.store', name: 'text', active: 'boolean' }),
  table('public.film', 1_000, { id: 'integer', title: 'text', rating: 'text', length: 'integer' }),
  table('public.inventory', 4_500, {
    ...{ id: 'integer', film_id: 'integer > public.film', store_id: 'integer > public.store' },
  }),
  table('public.rental', 16_000, {
    ...{ id: 'integer', rental_date: 'date', customer_id: 'integer > public.customer' },
    ...{ inventory_id: 'integer > public.inventory', staff_id: 'integer > public.staff' },
  }),
  table('public.payment', 16_000, {
    ...{ id: 'integer', customer_id: 'integer > public.customer', staff_id: 'integer > public.staff' },
    ...{ rental_id: 'integer? > public.rental', amount: 'numeric(5,2)', payment_date: 'date' },
  }),
];

const draftOf = (tables: readonly SourceTable[], choices: Partial<Choices> = {}) => {
  const { relationships, tenantTables } = proposeFor(tables);
  const tenantTable = tables.find((one) => tenantTables[0] !== undefined && sameTable(one, tenantTables[0]));
  if (tenantTable === undefined) throw new Error('a table of tenants');
  const keyColumn = tenantTables[0]?.keyColumn ?? '';
  return draftByBestWays(tables, relationships, {
    ...{ name: 'x', tenantTable, keyColumn, clientColumn: undefined, shared: [], paths: new Map() },
    ...{ bridges: [], baseFilters: [], amounts: proposeFor(tables).amounts, ...choices },
  });
};
const chartsOf = (tables: readonly SourceTable[], choices: Partial<Choices> = {}) => {
  const { datamart, owned } = draftOf(tables, choices);
  return firstDashboard(
    datamart,
    factsWithoutRows(datamart, owned, (ref) => tables.find((one) => sameTable(one, ref))),
  );
};

describe('the proposed model', () => {
  test('one way leads from a table to each table that its rows refer to, whatever is shared', () => {
    for (const { datamart } of [draftOf(saas), draftOf(saas, { shared: ['app.users'] }), draftOf(rental)]) {
      // The tenants are joined to nearly all tables, and say nothing to a tenant.
      const { tenancy } = datamart;
      const isTenants = (ref: TableRef): boolean => tenancy?.tenancyLevel === 'TABLE' && sameTable(ref, tenancy);
      for (const from of datamart.tables) {
        const reached: TableRef[] = [from];
        for (const near of reached)
          reached.push(
            ...datamart.relationships
              .filter(({ parent, child }) => sameTable(parent, near) && !isTenants(child))
              .map(({ child }) => child)
              .filter((child) => !reached.some((one) => sameTable(one, child))),
          );
        for (const to of reached)
          expect([from.tableName, to.tableName, findWay(datamart, from, to).kind]).toContain('one');
      }
    }
  });

  test('each column of a kept table is listed, or noted as left out on purpose', () => {
    const secret = table('app.tasks', 900, { id: 'uuid', project_id: 'uuid > app.Projects', password_hash: 'text' });
    const tables = saas.map((one) => (one.tableName === 'tasks' ? secret : one));
    const { datamart } = draftOf(tables, { shared: ['app.users'] });
    for (const { tableName, columns, leftOut = [] } of datamart.tables) {
      const known = [...columns.map(({ columnName }) => columnName), ...leftOut];
      const there = tables.find((one) => one.tableName === tableName)?.columns.map(({ columnName }) => columnName);
      expect([tableName, known.toSorted()]).toEqual([tableName, there?.toSorted()]);
    }
    expect(datamart.tables.find(({ tableName }) => tableName === 'tasks')?.leftOut).toEqual(['password_hash']);
  });

  test('of two ways to people, the one that names them and is never empty stays', () => {
    const { secondWays, datamart } = draftOf(saas, { shared: ['app.users'] });
    expect(secondWays.map(({ relationshipName }) => relationshipName)).toEqual(['tasks.assignee_id']);
    expect(datamart.relationships.map(({ relationshipName }) => relationshipName)).toContain('time_entries.user_id');
  });

  test('a table with several ways to a tenant follows the best: never empty, short, and not by a person', () => {
    const { owned, paths } = draftOf(rental);
    expect([...paths]).toEqual([
      ['public.rental', 'rental.inventory_id'],
      ['public.payment', 'payment.customer_id'],
    ]);
    expect(owned.map(({ table: { tableName } }) => tableName)).toEqual(
      expect.arrayContaining(['rental', 'payment', 'inventory', 'customer', 'staff']),
    );
  });

  test('a way that the operator names wins over the best', () => {
    const { paths } = draftOf(rental, { paths: new Map([['public.rental', 'rental.staff_id']]) });
    expect(paths.get('public.rental')).toBe('rental.staff_id');
  });

  test('tables about people are never offered to be shared, though the rows of tenants refer to them', () => {
    const shareable = draftOf([...saas, table('app.labels', 9, { id: 'uuid', name: 'text' })])
      .leftOut.filter(({ mayHaveTenants }) => !mayHaveTenants)
      .map(({ table: { tableName } }) => tableName);
    expect(shareable).toEqual(['labels']);
  });
});

describe('the first charts', () => {
  test('a SaaS product gets ten charts of several tables, with stages in declared order and a share', () => {
    const { metrics } = chartsOf(saas);
    expect(metrics.map(({ name }) => name)).toEqual([
      ...['Hours', 'Revenue', 'Tasks', 'Hours by month', 'Revenue by month', 'Tasks by status'],
      ...['Hours: top 10 by project type', 'Revenue by status', 'Tasks by priority', 'Latest time entries'],
    ]);
    const chart = (name: string) => metrics.find((one) => one.name === name)?.definition;
    expect(chart('Tasks by status')).toMatchObject({ chart: { type: 'bar' }, sort: [{ direction: 'ASC' }] });
    expect(chart('Tasks by priority')?.chart.type).toBe('doughnut');
    expect(chart('Hours')?.measures[0]?.expression).toBe('SUM(time_entries.minutes) / 60.0');
  });

  test('with the people shared, hours are shown by department', () => {
    const { metrics, filters } = chartsOf(saas, { shared: ['app.users'] });
    expect(metrics.map(({ name }) => name)).toContain('Hours: top 10 by department');
    expect(filters.map(({ name }) => name)).toEqual(['Date', 'Project type']);
  });

  test('with a bridge to the people, hours are shown by department, and nothing that tenants do not read', () => {
    const { bridges } = proposeFor(saas);
    expect(bridges.map(({ through }) => through.columns)).toEqual([['id', 'full_name', 'department']]);
    const { metrics } = chartsOf(saas, { bridges });
    expect(metrics.map(({ name }) => name)).toContain('Hours: top 10 by department');
    expect(JSON.stringify(metrics)).not.toContain('email');
    const named = bridges.map((one) => ({ ...one, through: { ...one.through, columns: ['id', 'full_name'] } }));
    expect(JSON.stringify(chartsOf(saas, { bridges: named }))).not.toContain('department');
  });

  test('charts that are proposed for a stored model read no column that its bridge hides', () => {
    const { datamart, owned } = draftOf(saas, { bridges: proposeFor(saas).bridges });
    const through = { relationship: 'memberships.user_id', columns: ['id'] };
    const hidden = {
      ...datamart,
      tables: datamart.tables.map((one) => (one.through == null ? one : { ...one, through })),
    };
    const facts = factsWithoutRows(hidden, owned, (ref) => saas.find((one) => sameTable(one, ref)));
    const users = facts.tables.find(({ table: { tableName } }) => tableName === 'users');
    expect(users?.roles.categories).toEqual([]);
    expect(JSON.stringify(firstDashboard(hidden, facts))).not.toContain('department');
  });

  test('hours of people alone are shown by department and person, and the department is the filter', () => {
    const kept = ['organizations', 'users', 'memberships', 'time_entries'];
    const hours = table('app.time_entries', 900, {
      ...{ id: 'uuid', organization_id: org, user_id: 'uuid > app.users', started_at: 'date', minutes: 'integer' },
    });
    const plain = [...saas.filter(({ tableName }) => kept.includes(tableName) && tableName !== hours.tableName), hours];
    const { metrics, filters } = chartsOf(plain, { bridges: proposeFor(plain).bridges });
    const names = metrics.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Hours: top 10 by department', 'Hours: top 10 by user']));
    expect(filters.map(({ name }) => name)).toEqual(['Started at', 'Department']);
  });

  test('a filter by a kind of rows reaches every card, and the filter of dates has the date of each table', () => {
    const { datamart, owned } = draftOf(saas);
    const { metrics, filters } = firstDashboard(
      datamart,
      factsWithoutRows(datamart, owned, (ref) => saas.find((one) => sameTable(one, ref))),
    );
    const [dates, kinds] = filters.map(({ applyOnTables }) => applyOnTables);
    expect(kinds?.map(({ tableName, columnName }) => [tableName, columnName])).toEqual([['Projects', 'projectType']]);
    for (const { name, definition } of metrics) {
      const found = findWay(datamart, definition.from, { schemaName: 'app', tableName: 'Projects' });
      expect([name, found.kind]).toEqual([name, 'one']);
      expect([name, dates?.some((date) => sameTable(date, definition.from))]).toEqual([name, true]);
    }
  });

  test('no table of the latest rows shows a key, and no group or filter is of titles', () => {
    for (const { metrics, filters } of [chartsOf(saas), chartsOf(rental, { shared: ['public.film'] })]) {
      const latest = metrics.find(({ shape }) => shape === 'table')?.definition.dimensions ?? [];
      expect(latest.length).toBeGreaterThan(1);
      expect(latest.filter(({ column }) => /(^|_)id$/i.test(column.columnName))).toEqual([]);
      expect(filters.flatMap(({ applyOnTables }) => applyOnTables.map(({ columnName }) => columnName))).not.toContain(
        'title',
      );
    }
  });

  test('a video rental gets revenue and rentals, of the tables to which several keys lead', () => {
    const names = chartsOf(rental).metrics.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Revenue', 'Revenue by month', 'Rental', 'Rental by month']));
  });
});

describe('the proposed amounts', () => {
  const orgs = (columns: Readonly<Record<string, string>> = {}) =>
    table('app.organizations', 9, { id: 'uuid', name: 'text', ...columns });
  const invoices = (columns: Readonly<Record<string, string>>) =>
    table('app.invoices', 90, { id: 'uuid', organization_id: org, issued_on: 'date', ...columns });
  const amountsIn = (...tables: readonly SourceTable[]) =>
    Object.fromEntries(
      proposeFor(tables).amounts.map(({ tableName, columnName, numbers }) => [`${tableName}.${columnName}`, numbers]),
    );

  test('whole numbers that are named like cents have two decimal places, however the name is written', () => {
    const parts = fc.tuple(
      fc.constantFrom(['total'], ['monthly', 'fee'], ['amount', 'in'], ['balance']),
      fc.constantFrom(['cents'], ['pence'], ['minor'], ['minor', 'units']),
    );
    const camel = (words: readonly string[]) =>
      words.map((word, at) => (at === 0 ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)).join('');
    fc.assert(
      fc.property(parts, fc.boolean(), ([subject, unit], isCamel) => {
        const name = isCamel ? camel([...subject, ...unit]) : [...subject, ...unit].join('_');
        const { amounts } = proposeFor([orgs(), invoices({ [name]: 'bigint', other: 'numeric(8,2)' })]);
        const label = camel(subject.filter((word) => word !== 'in'));
        expect(amounts.map(({ numbers }) => numbers)).toEqual([{ scale: 2 }]);
        expect(amounts[0]?.label?.replace(' ', '').toLowerCase()).toBe(label.toLowerCase());
      }),
    );
  });

  test('what counts, identifies or was converted is no amount', () => {
    const columns = {
      ...{
        currency: 'text',
        version_minor: 'integer',
        minor: 'integer',
        cents_id: 'integer',
        tax_rate: 'numeric(4,2)',
      },
      ...{ total_hours: 'numeric(8,2)', base_amount: 'numeric(8,2)', total_cents: 'text', seats_total: 'integer' },
    };
    expect(amountsIn(orgs(), invoices(columns))).toEqual({});
  });

  test('the currency of the row wins over the tenant’s, that of the same words over others, a code over both', () => {
    const found = amountsIn(
      orgs({ billing_currency: 'text' }),
      invoices({
        ...{ currency: 'character(3)', payout_currency: 'text', total: 'numeric(8,2)', payout_amount: 'numeric(8,2)' },
        ...{ amount_usd: 'numeric(8,2)', fee_pence: 'integer' },
      }),
      table('app.plans', 3, { id: 'uuid', organization_id: org, price_cents: 'integer' }),
      table('app.list_prices', 3, { id: 'uuid', price_cents: 'integer' }),
      table('app.invoice_lines', 9, { id: 'uuid', invoice_id: 'uuid > app.invoices', price: 'numeric(8,2)' }),
    );
    expect(found).toEqual({
      'invoices.total': { currency: { column: 'currency' } },
      'invoices.payout_amount': { currency: { column: 'payout_currency' } },
      'invoices.amount_usd': { currency: 'USD' },
      'invoices.fee_pence': { scale: 2, currency: { column: 'currency' } },
      'plans.price_cents': { scale: 2, currency: { tenantColumn: 'billing_currency' } },
      // A list for all tenants has nobody's currency, and lines have that of their invoice.
      'list_prices.price_cents': { scale: 2 },
    });
  });

  test('shared rows take no currency of a tenant, and people none that tenants do not read', () => {
    const own = [
      orgs({ currency: 'text' }),
      table('app.plans', 3, { id: 'uuid', organization_id: org, price_cents: 'integer' }),
    ];
    const { datamart } = draftOf(own, { shared: ['app.plans'] });
    const numbers = datamart.tables[1]?.columns.flatMap((column) => column.numbers ?? []);
    expect(numbers).toEqual([{ scale: 2 }]);
    expect(draftOf(own).datamart.tables[1]?.columns.at(-1)).toMatchObject({
      ...{ label: 'Price', numbers: { scale: 2, currency: { tenantColumn: 'currency' } } },
    });
  });

  test('of any tables, the draft with all amounts is accepted, and no proposed chart mixes currencies', () => {
    const column = fc.constantFrom(
      ...['total_cents:bigint', 'amount:numeric(8,2)', 'currency:text', 'status:text', 'unit_price_cents:integer'],
      ...['quantity:integer', 'billing_currency:text', 'payout_amount:numeric(8,2)', 'payout_currency:text'],
      ...['paid_minor:integer', "stage:enum('a','b','c')", 'minutes:integer'],
    );
    const columns = fc
      .uniqueArray(column, { maxLength: 7 })
      .map((list) => Object.fromEntries(list.map((one) => one.split(':'))));
    fc.assert(
      fc.property(columns, columns, columns, (ofTenants, ofInvoices, ofLines) => {
        const tables = [
          orgs(ofTenants),
          invoices(ofInvoices),
          table('app.invoice_lines', 900, { id: 'uuid', invoice_id: 'uuid > app.invoices', ...ofLines }),
        ];
        const { datamart } = draftOf(tables);
        expect(moneyFaults(datamart, true)).toEqual([]);
        for (const { name, definition } of chartsOf(tables).metrics) {
          const groups = definition.dimensions.map((dimension) => dimension.column);
          for (const { column: ref, expression = '' } of definition.measures) {
            const read =
              ref === undefined
                ? datamart.tables.flatMap((one) =>
                    one.columns
                      .filter(({ columnName }) => expression.includes(`${one.tableName}.${columnName}`))
                      .map(({ columnName }) => ({ ...one, columnName })),
                  )
                : [ref];
            for (const currency of read.flatMap((one) => currencyOf(datamart, one) ?? []))
              expect([name, currency.kind !== 'row' || groups.some((one) => sameColumn(one, currency.ref))]).toEqual([
                ...[name, true],
              ]);
          }
          const isSplit = groups.some(({ columnName }) => columnName.endsWith('currency'));
          expect(isSplit && ['doughnut', 'funnel'].includes(definition.chart.type)).toBe(false);
        }
      }),
    );
  });
});

test('the catalogue proposes the same ways as init: one between two tables, and one to a tenant', () => {
  const { relationships, tenancyPaths } = proposeModel(rental);
  const second = relationships.filter(({ isSecondWay }) => isSecondWay);
  expect(second.map(({ relationshipName }) => relationshipName)).toEqual([
    ...['store.manager_staff_id', 'rental.customer_id', 'payment.staff_id'],
  ]);
  expect(tenancyPaths.map(({ tableName, tenancyPath }) => [tableName, tenancyPath])).toEqual([
    ['rental', 'rental.inventory_id'],
    ['payment', 'payment.customer_id'],
  ]);
});
