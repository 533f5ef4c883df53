/**
 * Turns a metric of fields into a metric in SQL that answers the same. The text is then read like every text of an author:
 * parsed, scoped to the viewed user's tenant, and described. So nothing is answered that an author could not have written
 * and run. Stores nothing, and reads no row.
 */
import { filterBeyondSql, refuseAsSql } from '../../model/dashboard/as-sql.js';
import type { DashboardFilter } from '../../model/dashboard/dashboard.js';
import { mappedColumns } from '../../model/dashboard/mapped-columns.js';
import type { SqlDefinition } from '../../model/dashboard/metric.js';
import type { Condition } from '../../model/filter/filter.js';
import type { AuthorCaller } from '../../model/guest/caller.js';
import type { RequestSignal } from '../../model/query/engine.js';
import { type ProposedOutput, proposeOutputs } from '../../model/query/sql-outputs.js';
import { Refusal } from '../../model/refusal.js';
import { type AuthoredMetric, type AuthoringDeps, explained, openAuthored } from './author-preview.js';

type TurnedMetric = { readonly definition: SqlDefinition; readonly columns: readonly ProposedOutput[] };

/** Every refusal of what was written is one of the turn. */
const asRefusedTurn = (error: unknown): never => {
  if (!(error instanceof Refusal) || (error.code !== 'METRIC_QUERY_ERROR' && error.code !== 'INVALID_REQUEST_BODY'))
    throw error;
  if (error.reason === 'metric-not-in-sql') throw error;
  return refuseAsSql(error.message.replace(/^definition\.(?:sql: )?/gm, '').replace(/\.$/, ''), error);
};

/** A value of each filter, so that one that the SQL cannot take is noticed now and not by a reader. */
const trials = ({ filters }: SqlDefinition, ofDashboard: readonly DashboardFilter[]): readonly Condition[] => {
  const predicate = { kind: 'isNotNull' } as const;
  const own = filters.map(({ column }) => ({ column, predicate }));
  const others = ofDashboard
    .map(mappedColumns)
    .flatMap((mappedTo) => mappedTo.map((column) => ({ column, predicate, mappedTo })));
  return [...own, ...others];
};

/**
 * Throws METRIC_QUERY_ERROR with the reason `metric-not-in-sql` for a metric that cannot be turned, and says why;
 * INVALID_REQUEST_BODY for one that has faults.
 */
export const turnIntoSql =
  (deps: AuthoringDeps) =>
  async (caller: AuthorCaller, command: AuthoredMetric, signal: RequestSignal): Promise<TurnedMetric> => {
    const { definition: before } = command;
    if (before.kind === 'sql') return refuseAsSql('it is in SQL already');
    const { question, dashboard } = await openAuthored(deps, caller, command);
    const { datasource, datamart, tenant } = question;
    const definition = await explained(deps.engine.asSql({ datasource, datamart, tenant, definition: before }, signal));
    const differing = dashboard.filters.find((filter) => filterBeyondSql(filter, before, definition));
    if (differing !== undefined)
      return refuseAsSql(`the filter ${differing.name} of the dashboard would then be on other columns`);
    const written = await openAuthored(deps, caller, { ...command, definition }).catch(asRefusedTurn);
    const conditions = [...written.question.conditions, ...trials(definition, dashboard.filters)];
    const { columns } = await explained(deps.engine.statement({ ...written.question, conditions }, signal)).catch(
      asRefusedTurn,
    );
    return { definition, columns: proposeOutputs(columns, datamart) };
  };
