/** Proposes the content of a first dashboard from definitions and the catalog. Reads no row, and writes nothing. */
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import { factsWithoutRows } from '../../model/dashboard/first/facts.js';
import { type FirstDashboard, firstDashboard, layOut } from '../../model/dashboard/first/first-dashboard.js';
import { qualifiedName } from '../../model/datamart/datamart.js';
import { withoutEstimate } from '../../model/datamart/source-schema.js';
import { type ServiceCaller, seesData } from '../../model/guest/caller.js';
import type { RequestSignal } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { readSourceOf } from '../datamarts/source.js';
import { getDatamartTenancy, type TenancyDeps } from '../datamarts/tenancy.js';

export type ProposeDashboardContent = {
  readonly datamartName: string;
  /** `schema.table` of the tables that the cards may show. Undefined: all. */
  readonly tables?: readonly string[] | undefined;
};

export const contentOf = ({ metrics, filters }: FirstDashboard): DashboardContent => ({
  layout: layOut(metrics),
  filters,
  metrics: metrics.map(({ metricId, name, definition }) => ({
    metricId,
    name,
    definition,
    lineage: [],
    placement: 'METRIC',
  })),
  gridMargin: [],
});

const assertTables = (known: readonly string[], wanted: readonly string[]): void => {
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new Refusal(
    'INVALID_DATAMART',
    `tables: the datamart has no table ${unknown.map((name) => JSON.stringify(name)).join(', ')}. Its tables are ${known.join(', ')}.`,
  );
};

/** Returns cards and filters; none if no table holds what a card could show. Throws INVALID_DATAMART or DATASOURCE_CONNECTION_ERROR. */
export const proposeDashboardContent =
  (deps: TenancyDeps) =>
  async (
    caller: ServiceCaller,
    { datamartName, tables: wanted }: ProposeDashboardContent,
    signal?: RequestSignal,
  ): Promise<DashboardContent> => {
    const { datamart, tables } = await getDatamartTenancy(deps)(caller, { datamartName }, signal);
    assertTables(datamart.tables.map(qualifiedName), wanted ?? []);
    const { find } = await readSourceOf(deps.store, deps.engine, datamart, []);
    const chosen = tables.filter(({ table }) => wanted === undefined || wanted.includes(qualifiedName(table)));
    // Estimates are counts of rows.
    const known: typeof find = (table) => {
      const source = find(table);
      return source === undefined || seesData(caller) ? source : withoutEstimate(source);
    };
    return contentOf(firstDashboard(datamart, factsWithoutRows(datamart, chosen, known)));
  };
