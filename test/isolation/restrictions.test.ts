/** Mistakes in restrictions before SQL is written that no other test noticed when they were made again on purpose. */
import { describe, expect, it } from 'vitest';
import { buildPlan } from '../../src/engine/question/build-plan.js';
import { resolve } from '../../src/engine/question/resolve.js';
import { scopeToTenant } from '../../src/engine/scope/scope-to-tenant.js';
import { hostMade, type Metric } from '../../src/model/dashboard/metric.js';
import { withTenancySettings } from '../../src/model/datamart/datamart.js';
import type { ClientId } from '../../src/model/datamart/tenant.js';
import type { Condition } from '../../src/model/filter/filter.js';
import { enforcedConditions, noRestrictions } from '../../src/model/guest/conditions.js';
import { rlsVariablesOf } from '../../src/model/guest/rls-conditions.js';
import { earlierQuestion, withCourse } from '../../src/model/query/comparison.js';
import {
  byClients,
  catalogOf,
  columnRef,
  condition,
  datamart,
  metric,
  question,
  refusalOf,
  table,
} from '../engine/world.js';

const counted = metric('orders', { measures: [{ name: 'n', aggregate: 'COUNT' }] });

describe("an embed's tableTenancySettings", () => {
  const mart = datamart({
    tables: [
      table('orders', { owner: 'VARCHAR', region: 'VARCHAR' }, 'owner'),
      table('notes', { region: 'VARCHAR' }),
      table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    ],
  });

  it('add a client column to a table without one, and replace none', () => {
    const settings = ['orders', 'main.orders', 'notes'].map((name) => ({ name, clientColumn: 'region' }));
    const { tables } = withTenancySettings(mart, settings);
    expect(tables.map(({ clientColumn }) => clientColumn)).toEqual(['owner', 'region', null]);
  });
});

describe('a client id that was not checked', () => {
  const mart = datamart({
    tenancy: byClients('NUMBER'),
    tables: [table('orders', { id: 'BIGINT', owner: 'BIGINT' }, 'owner')],
  });
  const asked = { ...question('unused', mart, '1', counted), definition: counted };
  const planned = buildPlan(resolve(asked, { catalog: catalogOf(mart), stored: catalogOf(mart) }), {
    kind: 'answer',
    question: asked,
  });

  it.each(['', '-0', '1.0', '1.5', '01'])('%j is refused when its table is scoped, too', async (clientId) => {
    const scope = { kind: 'tenant', clientId: clientId as ClientId, database: null } as const;
    const refusal = await refusalOf(() => scopeToTenant(planned, scope, { datamart: mart, catalog: catalogOf(mart) }));
    expect(refusal.code).toBe('CLIENT_ID_ERROR');
  });
});

describe("a token's rlsSettings", () => {
  const restricted: Metric = {
    metricId: 'm',
    workspaceId: 'w',
    name: 'Orders',
    definition: {
      ...counted,
      rlsVariables: [{ name: 'region', column: columnRef('orders.region'), isOptional: true }],
    },
    lineage: [],
    owner: null,
    ...hostMade,
  };

  it("a token's rlsSettings that name an undeclared variable are refused, not ignored", async () => {
    const settings = { ...noRestrictions, rlsSettings: [{ metricId: 'm', values: { regoin: 'CA' } }] };
    const moment = { now: new Date(0), timezone: null };
    const refusal = await refusalOf(() => enforcedConditions(settings, [], restricted, moment));
    expect(refusal).toMatchObject({ code: 'RLS_SETTINGS_PARAM_ERROR', reason: 'rls-variable-unknown' });
  });
});

describe("a variable in a metric's own SQL", () => {
  const inSql: Metric = {
    metricId: 'm',
    workspaceId: 'w',
    name: 'Orders',
    definition: {
      kind: 'sql',
      chart: { type: 'table' },
      sql: 'SELECT count(*) AS n FROM orders WHERE region IN (region_variable)',
      dimensions: [],
      measures: [{ name: 'n' }],
      filters: [],
      rlsVariables: [{ name: 'region', isOptional: false }],
      sort: [],
      limit: null,
    },
    lineage: ['origin'],
    owner: null,
    ...hostMade,
  };
  const given = (...settings: readonly (readonly string[])[]) =>
    rlsVariablesOf(
      inSql,
      settings.map((region) => ({ region })),
    );

  it('has the values that all of its settings allow, and is refused if none remains', async () => {
    expect(given(['CA', 'NY'], ['NY', 'NV']).get('region')).toEqual(['NY']);
    expect((await refusalOf(() => given(['CA'], ['NV']))).code).toBe('RLS_SETTINGS_PARAM_ERROR');
  });
});

describe('the earlier value of a comparison', () => {
  const mart = datamart({ tenancy: null, tables: [table('orders', { day: 'DATE' })] });
  const range = (from: string, to: string) => condition('orders.day', { kind: 'range', from, to, toIsExclusive: true });
  const enforced = range('2024-03-01', '2024-05-01');
  const chosen = range('2024-04-01', '2024-05-01');

  it("moves the guest's range, and never leaves the token's range", () => {
    const comparison = { column: columnRef('orders.day'), grain: 'month', periods: 2 } as const;
    const definition = { ...counted, comparison };
    const conditions = [enforced, chosen];
    const asked = { ...question('unused', mart, 'None', definition, { conditions }), movable: [chosen] };
    const earlier = earlierQuestion({ ...asked, conditions });
    expect(earlier?.question.conditions).toEqual([enforced, range('2024-02-01', '2024-03-01')]);
  });

  it("reaches back for a course by the guest's range, and never leaves the token's range", async () => {
    const comparison = { column: columnRef('orders.day'), grain: 'month', periods: 2 } as const;
    const definition = { ...counted, chart: { type: 'singleValue' as const }, comparison };
    const read = async (conditions: readonly Condition[], movable: readonly Condition[]) => {
      const reads: (readonly Condition[])[] = [];
      const asked = { ...question('unused', mart, 'None', definition, { conditions }), conditions, movable };
      await withCourse(async (one) => {
        reads.push(one.conditions);
        return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
      })(asked);
      return reads;
    };
    expect(await read([enforced, chosen], [chosen])).toContainEqual([enforced, range('2023-05-01', '2024-05-01')]);
    // The token's own range is no choice of the guest's: nothing else is read.
    expect(await read([enforced], [])).toEqual([[enforced]]);
  });
});
