/** Drafts a first dashboard by what the rows of a datamart hold, and tries it for the largest client. Writes nothing. */

import type { Facts } from '../../model/dashboard/first/facts.js';
import { firstDashboard, metricOf } from '../../model/dashboard/first/first-dashboard.js';
import { type FirstRestriction, restrictionChoices } from '../../model/dashboard/first/restriction.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import { handled } from '../../model/handled.js';
import type { Datasource } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import type { Engine, RequestSignal } from '../../model/query/engine.js';
import { type AskMetric, createAsk, firstDashboardAsker } from '../../model/query/first/ask.js';
import type { DraftedDashboard } from '../../model/query/first/drafted.js';
import { findFacts } from '../../model/query/first/found-facts.js';
import { tryDashboard } from '../../model/query/first/tried.js';
import { Refusal } from '../../model/refusal.js';
import { readSource } from '../datamarts/source.js';
import { getDatamartTenancy } from '../datamarts/tenancy.js';
import { readMasterNames } from '../datamarts/tenant-names.js';
import type { Store } from '../store/store.js';
import { contentOf, proposeDashboardContent } from './propose-content.js';

type Deps = {
  readonly store: Pick<Store, 'datasources' | 'datamarts'>;
  readonly engine: Engine;
  readonly clock: Clock;
};

/** One question after the other: a draft must not take the places of guests in the queue. */
const inTurn = (ask: AskMetric): AskMetric => {
  let last: Promise<unknown> = Promise.resolve();
  return (...asked) => {
    const mine = handled(last.then(() => ask(...asked)));
    last = handled(mine.catch(() => undefined));
    return mine;
  };
};

/** Values of a category that one person may be responsible for. */
const mostValues = 20;
/** Each costs a query. */
const mostRestrictions = 6;

const valuesOf = async (
  ask: AskMetric,
  datamart: Datamart,
  tenant: string,
  { filter: { applyOnTables } }: FirstRestriction,
): Promise<readonly string[]> => {
  const [column] = applyOnTables;
  if (column === undefined) return [];
  const { schemaName, tableName, columnName } = column;
  const definition = metricOf({
    from: { schemaName, tableName },
    dimensions: [{ name: 'value', column: { schemaName, tableName, columnName } }],
    measures: [{ name: 'rows', aggregate: 'COUNT' }],
    sort: [{ name: 'rows', direction: 'DESC' }],
    limit: mostValues,
  });
  try {
    const { rows } = await ask(datamart, tenant, definition);
    return rows.flatMap(({ value }) => (value === null || value === undefined ? [] : [String(value)]));
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
};

type Trial = { readonly ask: AskMetric; readonly datamart: Datamart; readonly facts: Facts; readonly clock: Clock };

const trialOf = async ({ ask, datamart, facts, clock }: Trial, tenant: string) => {
  const started = clock.now().getTime();
  const { dashboard, answers, refused } = await tryDashboard(ask, datamart, tenant, firstDashboard(datamart, facts));
  const timeTakenInMs = Math.max(0, clock.now().getTime() - started);
  const choices = restrictionChoices(datamart, facts, dashboard).slice(0, mostRestrictions);
  return {
    content: contentOf(dashboard),
    answers: [...answers].map(([metricId, answer]) => ({ metricId, answer, timeTakenInMs })),
    refused,
    restrictions: await Promise.all(
      choices.map(async ({ restriction }) => ({
        ...restriction,
        values: await valuesOf(ask, datamart, tenant, restriction),
      })),
    ),
  };
};

const namesTimeoutMs = 2_000;

const namedTenants = async (
  engine: Engine,
  datasource: Datasource,
  { tenancy }: Datamart,
  clientIds: readonly string[],
  signal: RequestSignal,
): Promise<DraftedDashboard['tenants']> => {
  const asked = { wanted: { by: 'id', clientIds } as const, timeoutMs: namesTimeoutMs };
  const found =
    tenancy?.tenancyLevel === 'TABLE' ? await readMasterNames({ engine }, datasource, tenancy, asked, signal) : [];
  const nameOf = (id: string): string | null => found?.find(({ clientId }) => clientId === id)?.name ?? null;
  return clientIds.map((clientId) => ({ clientId, name: nameOf(clientId) }));
};

/** Undefined: no client has rows, or the datasource refuses to count them. The engine has logged why. */
const findRows = async (...asked: Parameters<typeof findFacts>): Promise<Facts | undefined> => {
  try {
    const facts = await findFacts(...asked);
    return facts.tenants.length === 0 ? undefined : facts;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'METRIC_QUERY_ERROR') return undefined;
    throw error;
  }
};

/**
 * Returns the dashboard with the answers for the largest client; without answers if no client has rows that can be
 * counted. Throws INVALID_DATAMART or DATASOURCE_CONNECTION_ERROR.
 */
export const draftDashboardContent =
  ({ store, engine, clock }: Deps) =>
  async (
    caller: ServiceCaller,
    { datamartName }: { readonly datamartName: string },
    signal: RequestSignal,
  ): Promise<DraftedDashboard> => {
    const { datamart, tables } = await getDatamartTenancy({ store, engine })(caller, { datamartName }, signal);
    const datasource = await store.datasources.findById(datamart.datasourceId);
    if (datasource === undefined) throw new Error(`datamart ${datamart.name} has no datasource`);
    const { find } = await readSource(engine, datasource, []);
    const ask = inTurn(createAsk(engine.until(signal), datasource));
    try {
      const facts = await findRows(ask, datamart, tables, find);
      const [tenant] = facts?.tenants ?? [];
      if (facts === undefined || tenant === undefined) {
        const content = await proposeDashboardContent({ store, engine })(caller, { datamartName }, signal);
        return { content, tenants: [], answers: [], refused: [], restrictions: [] };
      }
      return {
        ...(await trialOf({ ask, datamart, facts, clock }, tenant)),
        tenants: await namedTenants(engine, datasource, datamart, facts.tenants, signal),
      };
    } finally {
      // No data app stands for these answers, so no erasure of a client would find them.
      await engine.forgetClient(firstDashboardAsker, null);
    }
  };
