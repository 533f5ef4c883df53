/**
 * Has the database check the types of the metrics that are written: those of expressions, custom columns and custom SQL are
 * known to it alone. No row is read, and each statement has a tenant scope like any query. A database that cannot be
 * asked refuses nothing: then the card shows the fault.
 */

import type { Written } from '../../model/dashboard/content.js';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import { definitionFaults } from '../../model/dashboard/definition.js';
import type { MetricDefinition } from '../../model/dashboard/metric.js';
import {
  drillProbes,
  hasUnknownTypes,
  partProbes,
  rowProbes,
  type TypeProbe,
  wholeProbe,
} from '../../model/dashboard/type-probes.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { type TenantScope, untenantedClientId } from '../../model/datamart/tenant.js';
import { type Engine, isTypeFault, statementRefused, type TypeQuestion } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import type { Store } from '../store/store.js';
import { refuseContent } from './blueprint.js';

type Deps = { readonly store: Store; readonly engine: Pick<Engine, 'check'> };

export type WrittenContent = Pick<Written, 'isNewMetric'> & {
  readonly content: DashboardContent;
  readonly datamarts: readonly Datamart[];
  /** The client of the dashboard; null for one of the organization. */
  readonly clientId: string | null;
};

/** An id of every type that a client column has. It belongs to no client, and no row is read. */
const nobody = { NUMBER: '0', STRING: '00000000-0000-0000-0000-000000000000' } as const;

/** Undefined where each client has its own database and no client is given: then there is no database to ask. */
const scopeOf = async (store: Store, datamart: Datamart, clientId: string | null): Promise<TenantScope | undefined> => {
  const { tenancy } = datamart;
  if (tenancy === null) return loadTenantScope(store, datamart, untenantedClientId);
  if (tenancy.tenancyLevel === 'TABLE') return loadTenantScope(store, datamart, nobody[tenancy.clientColumnType]);
  try {
    return clientId === null ? undefined : await loadTenantScope(store, datamart, clientId);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

/** Clients whose databases may stand in for all, in the order in which they are tried. */
const standIns = 3;

/**
 * A client in whose scope definitions can be checked: one that does not exist, or where each client has a database of its
 * own, one that is listed. Undefined where none is.
 */
export const standInClient = async (store: Store, datamart: Datamart): Promise<string | undefined> => {
  const { tenancy, datasourceId } = datamart;
  if (tenancy === null) return untenantedClientId;
  if (tenancy.tenancyLevel === 'TABLE') return nobody[tenancy.clientColumnType];
  for (const name of await store.datasources.listClientDatabases(datasourceId, tenancy.tenancyLevel, standIns)) {
    if ((await scopeOf(store, datamart, name)) !== undefined) return name;
  }
  return undefined;
};

export type CheckSource = Omit<TypeQuestion, 'definition' | 'conditions'>;

/** What a check of a metric asks about. Undefined: there is no database to ask. */
export const checkSourceOf = async (
  store: Store,
  datamart: Datamart,
  clientId: string | null,
): Promise<CheckSource | undefined> => {
  const datasource = await store.datasources.findById(datamart.datasourceId);
  const tenant = await scopeOf(store, datamart, clientId);
  return datasource === undefined || tenant === undefined ? undefined : { datasource, datamart, tenant };
};

const toFix =
  'the database refuses its names, functions or types; aggregate numbers with SUM and AVG, and CAST where two types meet';

/** What is wrong with the types, for the host. The engine's own text only says that the query failed. */
export const typeMessage = ({ reason, message }: Refusal, says = ''): string =>
  reason === statementRefused ? `${toFix}${says === '' ? '' : ` (${says})`}.` : message;

type Ask = (probe: TypeProbe) => Promise<string | undefined>;

/** Returns the fault of a probe. Any other failure is of the moment, and the engine has logged it. */
const askOf =
  ({ engine }: Deps, source: CheckSource, signal: AbortSignal): Ask =>
  async ({ place, definition, conditions, says }) => {
    try {
      await engine.check({ ...source, definition, conditions }, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Refusal)) throw error;
      if (!isTypeFault(error)) return undefined;
      return `${place === '' ? '' : `${place}: `}${typeMessage(error, says).replace(/\.$/, '')}`;
    }
  };

const faultsOf = async (ask: Ask, definition: MetricDefinition, datamart: Datamart): Promise<readonly string[]> => {
  const askAll = async (probes: readonly TypeProbe[]): Promise<readonly string[]> => {
    const faults: string[] = [];
    for (const probe of probes) faults.push(...[await ask(probe)].filter((fault) => fault !== undefined));
    return faults;
  };
  const whole = await ask(wholeProbe(definition));
  const parts = whole === undefined ? [] : await askAll(partProbes(definition, datamart));
  const found = whole !== undefined && parts.length === 0 ? [whole] : parts;
  const later = [...drillProbes(definition, datamart), ...rowProbes(definition, datamart)];
  return [...found, ...(await askAll(later))];
};

/** Returns the faults for the datamart that has the fewest, as for the types that the datamart knows. */
const metricFaults = async (
  deps: Deps,
  definition: MetricDefinition,
  datamarts: readonly Datamart[],
  clientId: string | null,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  let fewest: readonly string[] | undefined;
  for (const datamart of datamarts) {
    if (definitionFaults(definition, datamart).length > 0) continue;
    const source = hasUnknownTypes(definition, datamart)
      ? await checkSourceOf(deps.store, datamart, clientId)
      : undefined;
    if (source === undefined) return [];
    const faults = await faultsOf(askOf(deps, source, signal), definition, datamart);
    if (faults.length === 0) return [];
    if (fewest === undefined || faults.length < fewest.length) fewest = faults;
  }
  return fewest ?? [];
};

/** Throws INVALID_DASHBOARD_DATA with the place of each fault of the metrics that are written anew. */
export const assertTypes = async (
  deps: Deps,
  { content, datamarts, clientId, isNewMetric }: WrittenContent,
  signal: AbortSignal,
): Promise<void> => {
  const faults: string[] = [];
  for (const { metricId, definition } of content.metrics) {
    if (!isNewMetric(definition)) continue;
    const found = await metricFaults(deps, definition, datamarts, clientId, signal);
    faults.push(...found.map((fault) => `metrics["${metricId}"]: ${fault}`));
  }
  if (faults.length > 0) refuseContent('INVALID_DASHBOARD_DATA', 'The dashboard does not fit its database', faults);
};
