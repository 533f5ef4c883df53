import { describe, expect, test } from 'vitest';
import type { Dashboard } from '../../src/model/dashboard/dashboard.js';
import { heldConditions } from '../../src/model/dashboard/mapped-columns.js';
import { hostMade, type Metric, type MetricDefinition } from '../../src/model/dashboard/metric.js';
import {
  chosenConditions,
  enforcedConditions,
  noRestrictions,
  type Restrictions,
  visibleFilters,
} from '../../src/model/guest/conditions.js';
import { Refusal } from '../../src/model/refusal.js';

const moment = { now: new Date('2024-02-29T12:00:00Z'), timezone: null };
const column = (tableName: string, columnName: string) => ({ schemaName: 'main', tableName, columnName });

const definition: MetricDefinition = {
  kind: 'visual',
  chart: { type: 'bar' },
  from: { schemaName: 'main', tableName: 'flights' },
  dimensions: [],
  measures: [{ name: 'Flights', aggregate: 'COUNT' }],
  filters: [
    { name: 'carrier', label: 'Carrier', column: column('flights', 'carrier'), dataType: 'string' },
    {
      name: 'late',
      label: 'Late',
      column: column('flights', 'delay'),
      dataType: 'number',
      predicate: { kind: 'compare', operator: '>', value: 0 },
    },
  ],
  rlsVariables: [],
  underlying: [],
  drillPath: [],
  sort: [],
  limit: null,
};

const metric: Metric = {
  metricId: 'copy',
  workspaceId: 'w',
  name: 'Flights',
  definition,
  lineage: ['origin'],
  owner: null,
  ...hostMade,
};

const dashboard: Dashboard = {
  id: 'd1',
  externalDashboardId: 'delays--LAX',
  workspaceId: 'w',
  name: 'Delays',
  owner: { dataAppId: 'a', clientId: 'LAX' },
  templateId: null,
  layout: [],
  gridMargin: [],
  filters: [
    {
      name: 'Destination state',
      dataType: 'string',
      applyOnTables: [{ ...column('airports', 'state'), dataType: 'string' }],
    },
    {
      name: 'Date',
      dataType: 'date',
      applyOnTables: [
        { ...column('flights', 'date'), dataType: 'date' },
        { ...column('orders', 'date'), dataType: 'date' },
      ],
    },
  ],
  metadata: null,
  isAllowPrivateMetricsByDefault: false,
};

const restricted: Restrictions = {
  ...noRestrictions,
  dashboardAppFilters: [{ dashboardId: 'd1', values: { 'DESTINATION STATE': 'CA' }, isShowOnUrl: false }],
};
const california = {
  column: column('airports', 'state'),
  predicate: { kind: 'oneOf', values: ['CA'] },
  restriction: 'always',
  isOfToken: true,
};
const late = { column: column('flights', 'delay'), predicate: { kind: 'compare', operator: '>', value: 0 } };
const none = { dashboardFilter: {}, metricFilter: {} };

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'nothing refused';
  } catch (error) {
    return error instanceof Refusal ? error.code : 'not a refusal';
  }
};

describe('what is enforced', () => {
  test("the author's own filters and the token's dashboard filters, whatever the case of their names", () => {
    expect(enforcedConditions(restricted, [dashboard], metric, moment)).toEqual([late, california]);
  });

  test("another dashboard's filter is not this one's", () => {
    const elsewhere = {
      ...restricted,
      dashboardAppFilters: restricted.dashboardAppFilters.map((entry) => ({ ...entry, dashboardId: 'd2' })),
    };
    expect(enforcedConditions(elsewhere, [dashboard], metric, moment)).toEqual([late]);
  });

  test('a setting that names the original binds its copies', () => {
    const settings = { ...noRestrictions, appFilters: [{ metricId: 'origin', values: { carrier: ['AA'] } }] };
    expect(enforcedConditions(settings, [dashboard], metric, moment)).toContainEqual({
      column: column('flights', 'carrier'),
      predicate: { kind: 'oneOf', values: ['AA'] },
      restriction: 'always',
      isOfToken: true,
    });
  });

  test('a token filter whose target is gone is an error, never no filter', () => {
    const renamed = { ...dashboard, filters: [] };
    expect(codeOf(() => enforcedConditions(restricted, [renamed], metric, moment))).toBe('APP_FILTER_PARAM_ERROR');
    const unknown = { ...noRestrictions, appFilters: [{ metricId: 'copy', values: { gone: 'x' } }] };
    expect(codeOf(() => enforcedConditions(unknown, [dashboard], metric, moment))).toBe('APP_FILTER_PARAM_ERROR');
  });

  test('of the columns of a filter those are enforced that the metric reads, the others where a question reads them', () => {
    const dated = {
      ...noRestrictions,
      dashboardAppFilters: [{ dashboardId: 'd1', values: { Date: '2024-02-01 - 2024-02-02' }, isShowOnUrl: true }],
    };
    const [, ...conditions] = enforcedConditions(dated, [dashboard], metric, moment);
    const heldWhen = (...tables: readonly string[]) =>
      heldConditions(conditions, [], ({ tableName }) => tables.includes(tableName)).map(
        ({ column: { tableName }, restriction }) => `${tableName} ${restriction}`,
      );
    expect(heldWhen('flights')).toEqual(['flights always', 'orders whereRead']);
    expect(heldWhen('flights', 'orders')).toEqual(['flights always', 'orders always']);
    expect(heldWhen()).toEqual(['flights always', 'orders always']);
    const choices = { dashboardFilter: { Date: '2024-02-01' }, metricFilter: {} };
    const chosen = chosenConditions(noRestrictions, dashboard, metric, choices, moment);
    const isFlights = ({ tableName }: { readonly tableName: string }) => tableName === 'flights';
    expect(heldConditions(chosen, [], isFlights).map(({ column: { tableName } }) => tableName)).toEqual(['flights']);
    expect(heldConditions(chosen, [], () => false)).toEqual(chosen);
    const own = (...tables: readonly string[]) => tables.map((tableName) => ({ schemaName: 'main', tableName }));
    const chosenOf = (...tables: readonly string[]) =>
      heldConditions(chosen, own(...tables), () => true).map(({ column: { tableName } }) => tableName);
    expect([chosenOf('flights'), chosenOf('none', 'orders', 'flights'), chosenOf('none')]).toEqual([
      ...[['flights'], ['orders']],
      ['flights', 'orders'],
    ]);
    expect(heldConditions(conditions, own('flights'), () => true)).toEqual(conditions);
  });
});

describe('RLS variables', () => {
  const rls = (isOptional: boolean): Metric => ({
    ...metric,
    definition: {
      ...definition,
      filters: [],
      rlsVariables: [{ name: 'region', column: column('airports', 'state'), isOptional }],
    },
  });

  test('a declared variable without a value is an error, unless it is optional', () => {
    expect(codeOf(() => enforcedConditions(noRestrictions, [dashboard], rls(false), moment))).toBe(
      'RLS_SETTINGS_PARAM_ERROR',
    );
    expect(enforcedConditions(noRestrictions, [dashboard], rls(true), moment)).toEqual([]);
  });

  test('a value of the prototype is no value', () => {
    const inherited: Metric = {
      ...rls(false),
      definition: {
        ...rls(false).definition,
        rlsVariables: [{ name: 'toString', column: column('airports', 'state'), isOptional: false }],
      },
    };
    const settings = { ...noRestrictions, rlsSettings: [{ metricId: 'copy', values: {} }] };
    expect(codeOf(() => enforcedConditions(settings, [dashboard], inherited, moment))).toBe('RLS_SETTINGS_PARAM_ERROR');
  });

  test('two settings of one variable both hold', () => {
    const settings = {
      ...noRestrictions,
      rlsSettings: [
        { metricId: 'origin', values: { region: ['CA', 'NY'] } },
        { metricId: 'copy', values: { region: 'CA' } },
      ],
    };
    expect(enforcedConditions(settings, [dashboard], rls(false), moment)).toHaveLength(2);
  });

  test('an empty list of values is refused', () => {
    const settings = { ...noRestrictions, rlsSettings: [{ metricId: 'copy', values: { region: [] } }] };
    expect(codeOf(() => enforcedConditions(settings, [dashboard], rls(false), moment))).toBe(
      'RLS_SETTINGS_PARAM_ERROR',
    );
  });
});

describe('what a guest chooses', () => {
  test('a filter by its name, and nothing that is not there', () => {
    const chosen = chosenConditions(
      restricted,
      dashboard,
      metric,
      { dashboardFilter: { 'destination state': ['NY'] }, metricFilter: { CARRIER: 'AA' } },
      moment,
    );
    expect(chosen.map(({ column: { columnName } }) => columnName)).toEqual(['state', 'carrier']);
    for (const name of ['origin', '__proto__', 'constructor', 'Late', '']) {
      expect(
        codeOf(() =>
          chosenConditions(restricted, dashboard, metric, { ...none, dashboardFilter: { [name]: 'x' } }, moment),
        ),
        name,
      ).toBe('INVALID_REQUEST_BODY');
      expect(
        codeOf(() =>
          chosenConditions(restricted, dashboard, metric, { ...none, metricFilter: { [name]: 'x' } }, moment),
        ),
        name,
      ).toBe('INVALID_REQUEST_BODY');
    }
  });

  test("a hidden filter cannot be set, and its name is not in the error's list", () => {
    const hidden = { ...restricted, hideDashboardFilters: ['destination STATE'] };
    expect(visibleFilters(hidden, dashboard).map(({ name }) => name)).toEqual(['Date']);
    const set = () =>
      chosenConditions(hidden, dashboard, metric, { ...none, dashboardFilter: { State: 'NY' } }, moment);
    expect(set).toThrow(/there is "Date"/);
    expect(set).not.toThrow(/Destination/);
  });

  test('a default holds until the guest sets another', () => {
    const [state, date] = dashboard.filters;
    if (state === undefined || date === undefined) throw new Error('the fixture has two filters');
    const withDefault = { ...dashboard, filters: [{ ...state, defaultValue: 'NY' }, date] };
    const values = (dashboardFilter: Record<string, string>) =>
      chosenConditions(noRestrictions, withDefault, metric, { ...none, dashboardFilter }, moment).map(
        ({ predicate }) => predicate,
      );
    expect(values({})).toEqual([{ kind: 'oneOf', values: ['NY'] }]);
    expect(values({ 'Destination state': 'TX' })).toEqual([{ kind: 'oneOf', values: ['TX'] }]);
  });

  test("a default that does not fit its filter is a fault of the metric, and not of the guest's request", () => {
    const [state, date] = dashboard.filters;
    if (state === undefined || date === undefined) throw new Error('the fixture has two filters');
    const wrong = { ...dashboard, filters: [{ ...state, defaultValue: 7 }, date] };
    const codeFor = (dashboardFilter: Record<string, string | number>) =>
      codeOf(() => chosenConditions(noRestrictions, wrong, metric, { ...none, dashboardFilter }, moment));
    expect(codeFor({})).toBe('METRIC_QUERY_ERROR');
    expect(codeFor({ 'Destination state': 7 })).toBe('INVALID_REQUEST_BODY');
  });
});
