/** What this release knows of stored content that restricts what is seen. */
import { chartTypes } from '../../model/dashboard/chart.js';
import type { DashboardFilter } from '../../model/dashboard/dashboard.js';
import { type AccessSettings, allowanceNames, type FilterColumns } from '../../model/dashboard/embed.js';
import {
  type AggregateMeasure,
  type Calculation,
  type Comparison,
  type ConditionTree,
  type Dimension,
  type ExpressionMeasure,
  type HavingTree,
  type MetricDefinition,
  type MetricFilter,
  measureAggregates,
  type RlsVariable,
  type Sort,
} from '../../model/dashboard/metric.js';
import type { ColumnRules } from '../../model/datamart/column-rules.js';
import {
  type BaseFilter,
  type ColumnRef,
  type CurrencySource,
  type DatamartColumn,
  type DatamartTable,
  type ModelNumbers,
  type Relationship,
  type Rollup,
  type RollupMeasure,
  type RollupRefresh,
  rollupAggregates,
  rollupGrains,
  rollupPeriods,
  type TableRef,
  type Tenancy,
  type Through,
} from '../../model/datamart/datamart.js';
import { dateGrains } from '../../model/datamart/dates.js';
import { maskPattern } from '../../model/datamart/masks.js';
import type { FilterDataType, FilterValue } from '../../model/filter/filter.js';
import {
  type AccessPermissions,
  accessColumns,
  accessSwitches,
  type DashboardValues,
  guestPermissionNames,
  type MetricValues,
  type PinnedDashboard,
} from '../../model/guest/grant.js';
import type { Person } from '../../model/person.js';
import type { CompareOperator, Predicate } from '../../model/predicate.js';
import { type Quota, quotaNames } from '../../model/quota.js';
import { recordOf } from '../../model/record-of.js';
import {
  anything,
  byName,
  columns,
  fields,
  type Known,
  list,
  oneOf,
  scalar,
  textLike,
  words,
  wordsOf,
} from './known-fields.js';
import type { GrantDocument, Tables } from './tables.js';

const texts = list(scalar);
const each = <Name extends string>(names: readonly Name[], known: Known) => recordOf(names, () => known);

const tableParts = { schemaName: scalar, tableName: scalar };
const tableRef = fields<TableRef>(tableParts);
const columnParts = { ...tableParts, columnName: scalar };
const columnRef = fields<ColumnRef>(columnParts);

type ObjectValue = Exclude<FilterValue, string | number | boolean | readonly string[]>;

const filterValue = oneOf(
  scalar,
  texts,
  fields<ObjectValue>(each(['startDate', 'endDate', 'start', 'end', 'min', 'max', 'sql', 'columnName'], scalar)),
);
const filterValues = byName(filterValue);

const predicate = fields<Predicate>({
  kind: words<Predicate['kind']>({
    oneOf: true,
    noneOf: true,
    compare: true,
    range: true,
    relative: true,
    like: true,
    inQuery: true,
    recurring: true,
    isNull: true,
    isNotNull: true,
  }),
  values: texts,
  operator: words<CompareOperator>({ '=': true, '<>': true, '<': true, '<=': true, '>': true, '>=': true }),
  value: scalar,
  from: scalar,
  to: scalar,
  toIsExclusive: scalar,
  period: scalar,
  pattern: scalar,
  sql: scalar,
  columnName: scalar,
  grain: words<'hourOfDay' | 'dayOfWeek'>({ hourOfDay: true, dayOfWeek: true }),
});

const metricValues = list(fields<MetricValues>({ metricId: scalar, values: filterValues }));
const columnsOfTables = list(fields<FilterColumns>({ tableName: scalar, columns: texts }));

export const knownGrant = fields<GrantDocument>({
  timezone: scalar,
  datasourceId: scalar,
  allowedEmbeds: texts,
  rlsSettings: metricValues,
  appFilters: metricValues,
  dashboardAppFilters: list(
    fields<DashboardValues>({ dashboardId: scalar, values: filterValues, isShowOnUrl: scalar }),
  ),
  hideDashboardFilters: texts,
  hideDashboardMetrics: list(
    fields<GrantDocument['hideDashboardMetrics'][number]>({ dashboardId: scalar, metricIds: texts }),
  ),
  columnRules: fields<ColumnRules>({ hideColumns: texts, maskColumns: byName(textLike(maskPattern)) }),
  pinnedDashboards: list(fields<PinnedDashboard>({ externalDashboardId: scalar, dashboardId: scalar })),
  quota: fields<Quota>(each(quotaNames, scalar)),
  accessPermissions: fields<AccessPermissions>({
    ...each(accessSwitches, scalar),
    ...each(accessColumns, columnsOfTables),
  }),
  permissions: fields(each(guestPermissionNames, scalar)),
});

/** The row, with what `findByHash` reads beside it. */
export const knownToken = columns<Tables['guest_tokens'] & { client_epoch: unknown; content_revision: unknown }>({
  ...{ id: true, hash: true, data_app_id: true, client_id: true, user_identifier: true, datamart_id: true },
  ...{ grants: true, created_at: true, expires_at: true, epoch: true, last_used_at: true, gateway: true },
  ...{ client_epoch: true, content_revision: true },
});

/** The row, with what a list reads beside it. */
export const knownDatamart = columns<Tables['datamarts'] & { list_keys: unknown }>({
  ...{ id: true, name: true, datasource_id: true, tenancy: true, tables: true, relationships: true },
  ...{ shared_tables: true, cache_ttl_seconds: true, cache_stale_seconds: true, rollups: true },
  ...{ created_at: true, updated_at: true, list_keys: true },
});

/** Of a role that is not known, nobody has a right. */
export const knownPerson = fields<Person>({
  ...each(['issuer', 'subject', 'name', 'seesData'], scalar),
  roles: texts,
});

export const knownTenancy = fields<Tenancy>({
  tenancyLevel: words<Tenancy['tenancyLevel']>({ TABLE: true, DATABASE: true, MULTI_DATABASE: true }),
  clientColumnType: words<'NUMBER' | 'STRING'>({ NUMBER: true, STRING: true }),
  ...tableParts,
  tableClientNameColumn: scalar,
  tablePrimaryKeyColumn: scalar,
  primaryDatabase: scalar,
});

const column = fields<Omit<DatamartColumn, 'mask'>>({
  ...each(['columnName', 'datatype', 'kind', 'alias', 'label', 'sql', 'defaultAggregation', 'defaultSort'], scalar),
  ...each(['isHide', 'isApplyTimezone', 'isCustomColumn', 'isAggregate', 'allowAggregate', 'defaultGrain'], scalar),
  numbers: fields<ModelNumbers>({
    ...each(['format', 'unit', 'notation', 'decimals', 'scale'], scalar),
    currency: oneOf(scalar, fields<CurrencySource>({ column: scalar, tenantColumn: scalar })),
  }),
  dates: anything,
});

export const knownTables = list(
  fields<Omit<DatamartTable, 'isClientColumnOfEmbed' | 'hiddenColumns'>>({
    ...tableParts,
    ...each(['label', 'clientColumn', 'tenancyPath', 'isHide', 'wildcard'], scalar),
    through: fields<Through>({ relationship: scalar, columns: texts }),
    baseFilters: list(fields<BaseFilter>({ columnName: scalar, predicate })),
    leftOut: texts,
    columns: list(column),
  }),
);

export const knownRelationships = list(
  fields<Relationship>({
    relationshipName: scalar,
    parent: columnRef,
    child: columnRef,
    cardinality: scalar,
    join: scalar,
  }),
);

export const knownRollups = list(
  fields<Rollup>({
    name: scalar,
    from: tableRef,
    dimensions: texts,
    grain: wordsOf(rollupGrains),
    measures: list(fields<RollupMeasure>({ aggregate: wordsOf(rollupAggregates), column: scalar })),
    partition: fields<Rollup['partition']>({ column: scalar, by: wordsOf(rollupPeriods), closesAfterHours: scalar }),
    refresh: fields<RollupRefresh>(each(['everyMinutes', 'at', 'timezone', 'again', 'changeColumn'], scalar)),
  }),
);

const conditions: Known = fields<ConditionTree>({
  column: columnRef,
  predicate,
  isHidden: scalar,
  restriction: words<'always' | 'whereRead'>({ always: true, whereRead: true }),
  isOfToken: scalar,
  mappedTo: list(columnRef),
  all: (value) => allConditions(value),
  any: (value) => allConditions(value),
});
const allConditions = list(conditions);

const having: Known = fields<HavingTree>({
  measure: scalar,
  predicate,
  all: (value) => allHaving(value),
  any: (value) => allHaving(value),
});
const allHaving = list(having);

const dimensions = list(
  fields<Dimension>({
    name: scalar,
    column: columnRef,
    grain: wordsOf([...dateGrains, 'hourOfDay', 'dayOfWeek']),
    bucketWidth: scalar,
    bucketCount: scalar,
  }),
);

const dataType = words<FilterDataType>({ string: true, number: true, date: true, boolean: true });

export const knownDefinition = fields<MetricDefinition>({
  kind: words<MetricDefinition['kind']>({ visual: true, sql: true }),
  // How the answer is drawn; the type alone is a closed set.
  chart: (chart) => (typeof chart === 'object' && chart !== null && 'type' in chart ? chartType(chart.type) : ''),
  from: tableRef,
  sql: scalar,
  dimensions,
  measures: list(
    fields<AggregateMeasure | ExpressionMeasure>({
      name: scalar,
      aggregate: wordsOf(measureAggregates),
      column: columnRef,
      indicator: predicate,
      percentile: scalar,
      expression: scalar,
      isHidden: scalar,
    }),
  ),
  where: conditions,
  having,
  calculations: list(
    fields<Calculation>({
      kind: words<Calculation['kind']>({ shareOfTotal: true, runningTotal: true, previousPeriod: true }),
      ...each(['name', 'of', 'along', 'periods', 'result'], scalar),
      within: texts,
    }),
  ),
  comparison: fields<Comparison>({ column: columnRef, grain: scalar, periods: scalar }),
  filters: list(
    fields<Omit<MetricFilter, 'isClosed'>>({
      name: scalar,
      label: scalar,
      column: columnRef,
      dataType,
      predicate,
      defaultValue: filterValue,
    }),
  ),
  rlsVariables: list(fields<RlsVariable>({ name: scalar, column: columnRef, isOptional: scalar })),
  underlying: list(columnRef),
  drillPath: dimensions,
  sort: list(fields<Sort>({ name: scalar, direction: scalar })),
  limit: scalar,
  others: scalar,
  withoutBaseFilters: list(tableRef),
});
const chartType = wordsOf(chartTypes);

export const knownDashboardFilters = list(
  fields<Omit<DashboardFilter, 'shownOn'>>({
    name: scalar,
    dataType,
    applyOnTables: list(fields<DashboardFilter['applyOnTables'][number]>({ ...columnParts, dataType: scalar })),
    defaultValue: filterValue,
    isSingleChoice: scalar,
  }),
);

export const knownAccessSettings = fields<AccessSettings>({
  ...each(allowanceNames, scalar),
  ...each(['datamartName', 'isAllowAiPilot', 'isAllowEndUserDashboardFilter', 'isAllowEndUserMetricFilter'], scalar),
  ...each(accessColumns, columnsOfTables),
  ...each(['joinModel', 'isIncrementalJoin', 'metricCreationMode', 'isAllowDashboardCreation'], scalar),
  tableTenancySettings: list(
    fields<NonNullable<AccessSettings['tableTenancySettings']>[number]>({ name: scalar, clientColumn: scalar }),
  ),
});
