/**
 * Says which metrics of a dashboard a token with given restrictions could not read, and why. Each metric is opened and
 * prepared as a guest's query is, with values that stand in for those of the token, and no row is read. So the answer
 * follows from definitions alone: it is the same for every value.
 */
import type { Epoch } from '../../model/brand.js';
import { type Dashboard, type MetricPlacement, sameName } from '../../model/dashboard/dashboard.js';
import type { AccessSettings } from '../../model/dashboard/embed.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { type ColumnRules, ruleName, withColumnRules } from '../../model/datamart/column-rules.js';
import { type ColumnRef, type Datamart, findColumn } from '../../model/datamart/datamart.js';
import { type DatatypeKind, storedKind } from '../../model/datamart/datatypes.js';
import { untenantedClientId } from '../../model/datamart/tenant.js';
import type { Condition, FilterDataType, FilterValue, Scalar } from '../../model/filter/filter.js';
import { isMetricOpen, isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller, LiveGrant } from '../../model/guest/caller.js';
import type { FilterValues } from '../../model/guest/grant.js';
import {
  type CheckedMetric,
  type MetricRefusal,
  type NamedRestrictions,
  noNamedRestrictions,
  type RefusedBy,
  type RefusedMetrics,
} from '../../model/guest/refused-metrics.js';
import { type Misfit, misfitsOf } from '../../model/guest/restriction-misfit.js';
import { shownDefinition } from '../../model/guest/shown-columns.js';
import type { Clock } from '../../model/ports.js';
import type { Engine, MetricQuestion, RequestSignal } from '../../model/query/engine.js';
import { noQuota } from '../../model/quota.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { findEmbed, findSource, type Opened, withOpenFilters } from '../embeds/lookup.js';
import { loadSourceScope } from '../embeds/source.js';
import { openOn, questionFor } from '../guest/scope.js';
import { checkColumnRules } from '../guest-tokens/mint-settings.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { loadDashboard } from './content.js';
import { standInClient } from './type-check.js';

type Deps = { readonly store: Store; readonly engine: Pick<Engine, 'statement'>; readonly clock: Clock };

export type ListRefusedMetrics = {
  /** A dashboard of the client, an embed, or a template. */
  readonly dashboardId: string;
  readonly workspaceName: string;
  /** Undefined: no client, in whose place one that does not exist stands. */
  readonly clientId?: string | undefined;
  /** Of the embed that a copy of the template would have. */
  readonly accessSettings?: AccessSettings | undefined;
  readonly datasourceName?: string | undefined;
  readonly datamartName?: string | undefined;
  readonly restrictions: NamedRestrictions;
};

const standIns: Readonly<Record<FilterDataType, FilterValue>> = {
  ...{ string: 'x', number: 0, date: '2000-01-01', boolean: true },
};

/** A value that a column of this kind can be compared with, if any. */
const fitting: Readonly<Partial<Record<DatatypeKind, Scalar>>> = {
  ...{ integer: 0, number: 0, boolean: true, date: '2000-01-01', uuid: '00000000-0000-0000-0000-000000000000' },
};

const valuesOf = (
  names: readonly string[],
  typed: readonly { readonly name: string; readonly dataType?: FilterDataType | undefined }[],
): FilterValues =>
  Object.fromEntries(
    names.map((given) => {
      const dataType = typed.find(({ name }) => sameName(name, given))?.dataType;
      return [given, standIns[dataType ?? 'string']];
    }),
  );

/** Each metric is checked by itself, so a setting for all of them names that metric alone. */
const settingsOf = (metric: Metric, { rls, appFilters }: NamedRestrictions) => {
  const { metricId, definition } = metric;
  const labelled = definition.filters.flatMap(({ name, label, dataType }) => [
    { name, dataType },
    { name: label, dataType },
  ]);
  return {
    rlsSettings: rls.length === 0 ? [] : [{ metricId, values: valuesOf(rls, []) }],
    appFilters: appFilters.length === 0 ? [] : [{ metricId, values: valuesOf(appFilters, labelled) }],
  };
};

const hiddenIds = ({ hideMetrics }: NamedRestrictions, metrics: readonly Metric[]): readonly string[] =>
  metrics
    .filter(({ metricId, name }) => hideMetrics.includes(name) || hideMetrics.includes(metricId))
    .map(({ metricId }) => metricId);

type Reading = {
  readonly opened: Opened;
  readonly metrics: readonly { readonly metric: Metric; readonly placement: MetricPlacement }[];
  readonly grant: LiveGrant;
  readonly given: NamedRestrictions;
};

/** The grant of a token with these restrictions, without what it restricts metric by metric. */
const grantOf = (
  { opened: { embed, dashboard }, metrics }: Pick<Reading, 'opened' | 'metrics'>,
  given: NamedRestrictions,
  of: Pick<LiveGrant, 'clientId' | 'datamartId' | 'datasourceId' | 'createdAt'>,
): LiveGrant => {
  const { dashboardFilters, hideDashboardFilters, hideColumns, maskColumns } = given;
  const values = valuesOf(dashboardFilters, dashboard.filters);
  const metricIds = hiddenIds(
    given,
    metrics.map(({ metric }) => metric),
  );
  return {
    ...{ id: '', dataAppId: embed.dataAppId, userIdentifier: null, timezone: null, allowedEmbeds: null },
    ...{ rlsSettings: [], appFilters: [], accessPermissions: {}, permissions: {}, expiresAt: null },
    ...of,
    dashboardAppFilters:
      dashboardFilters.length === 0 ? [] : [{ dashboardId: dashboard.id, values, isShowOnUrl: false }],
    hideDashboardFilters,
    hideDashboardMetrics: metricIds.length === 0 ? [] : [{ dashboardId: dashboard.id, metricIds }],
    columnRules: { hideColumns, maskColumns },
    quota: noQuota,
    ...{ epoch: 'none' as Epoch, revision: null },
  };
};

/** The token's conditions, with values that their columns can be compared with. */
const withFittingValues = (question: MetricQuestion): MetricQuestion => {
  const { datamart } = question;
  const stored = datamart.ruled?.stored ?? datamart;
  const fits = (condition: Condition): Condition => {
    const column = condition.isOfToken === true ? findColumn(stored, condition.column) : undefined;
    const value = column && fitting[storedKind(column) ?? 'other'];
    return value === undefined ? condition : { ...condition, predicate: { kind: 'oneOf', values: [value] } };
  };
  return { ...question, conditions: question.conditions.map(fits) };
};

const questionOf = async ({ store, clock }: Deps, reading: Reading, metric: Metric): Promise<MetricQuestion> => {
  const grant = { ...reading.grant, ...settingsOf(metric, reading.given) };
  const { metricId } = metric;
  const opened = await withOpenFilters(store, grant, reading.opened);
  const target = await openOn(store, grant, opened, metricId);
  const question = await questionFor(store, grant, target, { metricId }, clock.now());
  return withFittingValues(question);
};

/** Refusals of a setting that names what there is not. The mint of the token refuses it for the same reason. */
const refusedAtMint: ReadonlySet<Reason> = new Set([
  'rls-variable-unknown',
  'app-filter-unknown',
  'dashboard-app-filter-unknown',
]);

/** The columns without which the metric would be shown; where no single one is, all that the rules hide. */
const neededColumns = ({ definition }: Metric, datamart: Datamart, rules: ColumnRules): readonly RefusedBy[] => {
  const named: readonly RefusedBy[] = [
    ...rules.hideColumns.map((name) => ({ field: 'hideColumns' as const, name })),
    ...Object.keys(rules.maskColumns).map((name) => ({ field: 'maskColumns' as const, name })),
  ];
  const isNeeded = ({ field, name }: RefusedBy): boolean => {
    const mask = Object.hasOwn(rules.maskColumns, name) ? rules.maskColumns[name] : undefined;
    const alone =
      field === 'hideColumns' || mask === undefined
        ? { hideColumns: [name], maskColumns: {} }
        : { hideColumns: [], maskColumns: { [name]: mask } };
    return shownDefinition(definition, withColumnRules(datamart, alone)) === undefined;
  };
  const needed = named.filter(isNeeded);
  return needed.length > 0 ? needed : named.filter(({ field }) => field === 'hideColumns');
};

/** The restrictions of these columns that are given. A hidden filter's default restricts too. */
const givenAmong = (misfits: readonly Misfit[], given: NamedRestrictions): readonly RefusedBy[] => {
  const has = (field: keyof NamedRestrictions, name: string): boolean => {
    const names = given[field];
    return Array.isArray(names) && names.some((one) => sameName(one, name));
  };
  const all = misfits
    .flatMap(({ names }) => names)
    .flatMap(({ field, name }): readonly RefusedBy[] => {
      if (has(field, name)) return [{ field, name }];
      const isDefault = field === 'dashboardFilters' && has('hideDashboardFilters', name);
      return isDefault ? [{ field: 'hideDashboardFilters', name }] : [];
    });
  return all.filter(
    (one, index) => all.findIndex(({ field, name }) => field === one.field && name === one.name) === index,
  );
};

const columnText = ({ schemaName, tableName, columnName }: ColumnRef): string =>
  ruleName({ schemaName, tableName, columnName });

/** The engine's message has tables, relationships and how to mend them. */
const messageOf = (error: Refusal): string => (error.cause instanceof Refusal ? messageOf(error.cause) : error.message);

type Asked = { readonly reading: Reading; readonly metric: Metric; readonly signal: RequestSignal };

/** Null: the metric can be read. */
const refusalOf = async (deps: Deps, { reading, metric, signal }: Asked): Promise<Refusal | null> => {
  try {
    await deps.engine.statement(await questionOf(deps, reading, metric), signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal) return error;
    throw error;
  }
};

const explainRestriction = async (deps: Deps, { reading, metric }: Asked, error: Refusal): Promise<MetricRefusal> => {
  const { opened, given } = reading;
  const question = await questionOf(deps, reading, metric);
  const misfits = misfitsOf(question, { metric, dashboards: [opened.dashboard] });
  const on = misfits.map(({ column }) => columnText(column)).join(', ');
  return {
    ...{ refuses: 'metric', cause: 'restriction', reason: error.reason },
    by: givenAmong(misfits, given),
    message: `${on === '' ? '' : `The restriction is on ${on}. `}${messageOf(error)}`,
  };
};

const explainColumn = async (
  deps: Deps,
  { reading: { opened, grant, given }, metric }: Asked,
  error: Refusal,
): Promise<MetricRefusal> => {
  const plain = { ...grant, columnRules: { hideColumns: [], maskColumns: {} } };
  const source = await findSource(deps.store, opened, plain);
  const by = source === undefined ? [] : neededColumns(metric, source.datamart, given);
  const names = by.map(({ name }) => name).join(', ');
  return {
    ...{ refuses: 'metric', cause: 'column', reason: error.reason, by },
    message: `It needs ${names === '' ? 'a column that is hidden' : names}, which the restriction hides.`,
  };
};

/** Settings that name what the metric or its dashboard does not have. */
const unknownNames = (
  { filters }: Pick<Dashboard, 'filters'>,
  { definition }: Metric,
  given: NamedRestrictions,
): readonly RefusedBy[] => {
  const known = {
    dashboardFilters: filters.map(({ name }) => name),
    appFilters: definition.filters.flatMap(({ name, label }) => [name, label]),
  };
  const declared = definition.rlsVariables.map(({ name }) => name);
  return [
    ...(['dashboardFilters', 'appFilters'] as const).flatMap((field) =>
      given[field]
        .filter((name) => !known[field].some((one) => sameName(one, name)))
        .map((name): RefusedBy => ({ field, name })),
    ),
    ...given.rls.filter((name) => !declared.includes(name)).map((name): RefusedBy => ({ field: 'rls', name })),
  ];
};

const unknownWords: Readonly<Partial<Record<keyof NamedRestrictions, string>>> = {
  ...{ dashboardFilters: 'The dashboard has no filter', appFilters: 'It has no filter', rls: 'It has no RLS variable' },
};

const explainUnknown = ({ reading, metric }: Asked, error: Refusal): MetricRefusal => {
  const by = unknownNames(reading.opened.dashboard, metric, reading.given);
  const said = by.map(({ field, name }) => `${unknownWords[field]} ${JSON.stringify(name)}`);
  const message = `${[...said, 'so no token with the restriction is made'].join(', ')}.`;
  return { refuses: 'token', cause: 'restriction', reason: error.reason, by, message };
};

/** Whether the metric is refused without any restriction too. */
const isRefusedAnyway = async (deps: Deps, { reading, ...asked }: Asked): Promise<boolean> => {
  const grant = { ...reading.grant, ...grantOf(reading, noNamedRestrictions, reading.grant) };
  return (await refusalOf(deps, { ...asked, reading: { ...reading, grant, given: noNamedRestrictions } })) !== null;
};

const explain = async (deps: Deps, asked: Asked, error: Refusal): Promise<MetricRefusal> => {
  const { opened, grant, given } = asked.reading;
  const { metric } = asked;
  if (!isMetricOpen(grant, opened.dashboard, metric)) {
    const by = [metric.name, metric.metricId].filter((name) => given.hideMetrics.includes(name));
    const hidden = { refuses: 'metric', cause: 'hidden', reason: error.reason } as const;
    return { ...hidden, by: by.map((name) => ({ field: 'hideMetrics', name })), message: 'It is hidden by its name.' };
  }
  if (error.reason === 'metric-needs-hidden-column') return explainColumn(deps, asked, error);
  if (refusedAtMint.has(error.reason)) return explainUnknown(asked, error);
  if (error.reason.startsWith('restriction-')) return explainRestriction(deps, asked, error);
  const plain = { refuses: 'metric', reason: error.reason, by: [], message: messageOf(error) } as const;
  if (await isRefusedAnyway(deps, asked)) return { ...plain, cause: 'definition' };
  // The engine finds no hidden column by any name, also where the definition does not show that it reads one.
  const ofColumns = await explainColumn(deps, asked, error);
  return { ...ofColumns, message: `${ofColumns.message} ${plain.message}` };
};

const plainSettings = { metricCreationMode: 'DRAG_DROP' } as AccessSettings;

/** The dashboard with its embed; of a template, with the one that a copy would have. */
const openedOf = async (store: Store, caller: ApiKeyCaller, command: ListRefusedMetrics): Promise<Opened> => {
  const { dashboardId, workspaceName, clientId, accessSettings = plainSettings } = command;
  const { dataAppId } = caller;
  const found = clientId === undefined ? undefined : await findEmbed(store, dataAppId, dashboardId);
  if (found !== undefined && isOpenTo(found.dashboard.owner, { dataAppId, clientId: clientId ?? '' })) return found;
  const workspace = await loadWorkspace(store, workspaceName);
  const dashboard = await loadDashboard(store, caller, workspace, dashboardId);
  if (dashboard.owner !== null)
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Dashboard ${JSON.stringify(dashboardId)} is of another client: name its own client, or the template.`,
    );
  const { externalDashboardId: embedId, id, name } = dashboard;
  const settings = { accessSettings, description: null, metricId: null, createdAt: new Date(0) };
  return { dashboard, embed: { embedId, dataAppId, embedType: 'dashboard', dashboardId: id, name, ...settings } };
};

/** The client whose scope the metrics have. Undefined: each client has its own database, and none is known. */
const clientFor = async (
  { store }: Deps,
  opened: Opened,
  { clientId }: ListRefusedMetrics,
  scope: Pick<LiveGrant, 'datamartId' | 'datasourceId'>,
): Promise<string | undefined> => {
  if (clientId !== undefined) return clientId;
  const source = await findSource(store, opened, { ...scope, columnRules: { hideColumns: [], maskColumns: {} } });
  return source === undefined ? untenantedClientId : standInClient(store, source.datamart);
};

const columnRulesFault = async (
  { store }: Deps,
  scope: Parameters<typeof checkColumnRules>[1],
  rules: ColumnRules,
): Promise<string | null> => {
  try {
    await checkColumnRules({ store }, scope, rules);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
};

/**
 * Returns the host's metrics of the dashboard. Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, DATASOURCE_NAME_ERROR, or
 * CLIENT_ID_ERROR where the client does not fit, or where none is named and each client has a database of its own.
 */
export const listRefusedMetrics =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, command: ListRefusedMetrics, signal: AbortSignal): Promise<RefusedMetrics> => {
    const { store, clock } = deps;
    const { restrictions: given } = command;
    const opened = await openedOf(store, caller, command);
    const { scope } = await loadSourceScope(store, command);
    const clientId = await clientFor(deps, opened, command, scope);
    if (clientId === undefined)
      throw new Refusal('CLIENT_ID_ERROR', 'Each client has a database of its own, and none is known yet: name one.');
    const placed = await store.dashboards.listMetrics(opened.dashboard.id);
    const metrics = placed.filter(({ metric }) => metric.guest === null && !metric.isArchived);
    const grant = grantOf({ opened, metrics }, given, { clientId, ...scope, createdAt: clock.now() });
    const checked: CheckedMetric[] = [];
    for (const { metric, placement } of metrics) {
      const asked = { reading: { opened, metrics, grant, given }, metric, signal };
      const error = await refusalOf(deps, asked);
      const refusal = error === null ? null : await explain(deps, asked, error);
      checked.push({ metricId: metric.metricId, name: metric.name, placement, refusal });
    }
    return { metrics: checked, refusal: await columnRulesFault(deps, scope, given) };
  };
