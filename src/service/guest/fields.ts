/** The fields of a dashboard's datamart that a guest may build metrics on. */

import { type Catalogue, openFeedback } from '../../model/chat/catalogue.js';
import { type Datamart, type DatamartTable, tableKey } from '../../model/datamart/datamart.js';
import { viewSource } from '../../model/datamart/tables.js';
import { assertDefines, assertWrites } from '../../model/guest/access.js';
import type { GuestCaller, LiveGrant } from '../../model/guest/caller.js';
import { type GuestFields, guestFields } from '../../model/guest/fields.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { newDefinition } from '../../model/guest/metric.js';
import type { Datasource } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import type { Engine, RequestSignal } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { askedBy } from '../datamarts/source.js';
import { isUnreachable, readOwnerships } from '../datamarts/tenancy.js';
import type { Opened } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { withOpenColumns } from './open-columns.js';
import { unsavedMetric } from './preview.js';
import { openDashboard, questionFor } from './scope.js';

export type CatalogueDeps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'introspect' | 'listClientDatabases'>;
  readonly clock: Clock;
  readonly sqlRewriter: SqlRewriter;
};

/** Throws UNAUTHORIZED unless the guest may create metrics from fields on this dashboard. */
export const assertBuilds = (grant: GuestGrant, { embed }: Opened): void => {
  assertWrites(grant, embed, 'createGuestMetric');
  assertDefines(grant);
  if (embed.accessSettings?.metricCreationMode === 'DRAG_DROP') return;
  throw new Refusal(
    'UNAUTHORIZED',
    'This embed does not let its guests create metrics from fields: its metricCreationMode is not DRAG_DROP.',
    { reason: 'permission-missing' },
  );
};

/** Returns the tables that no query may read, by the keys of the datasource: those of its latest sync, else of now. */
const unreadableTables = async (
  { store, engine }: CatalogueDeps,
  { datasource, datamart }: { readonly datasource: Datasource; readonly datamart: Datamart },
  signal: RequestSignal,
): Promise<ReadonlySet<string>> => {
  const synced = await store.datasources.findTables(datasource.id);
  const source = synced === undefined ? undefined : viewSource(datasource, synced);
  try {
    const ownerships = await readOwnerships({ store, engine: askedBy(engine, signal) }, datamart, source);
    return new Set(
      ownerships.flatMap(({ table, tenancy }) =>
        tenancy.kind === 'unreadable' && table.isClientColumnOfEmbed !== true ? [tableKey(table)] : [],
      ),
    );
  } catch (cause) {
    if (!isUnreachable(cause)) throw cause;
    throw new Refusal('METRIC_QUERY_ERROR', 'The data cannot be reached now. Try again later.', {
      reason: 'datasource-unavailable',
      cause,
    });
  }
};

/**
 * Returns what the guest may build on, with the operator's notes about it. Reads no row, and checks no permission.
 * `showsAll`: also measures and calculated columns that read hidden columns, for an author.
 */
export const readCatalogue = async (
  deps: CatalogueDeps,
  grant: LiveGrant,
  opened: Opened,
  signal: RequestSignal,
  showsAll = false,
): Promise<Catalogue> => {
  const definition = newDefinition({ chart: { type: 'table' }, from: { schemaName: '', tableName: '' } });
  const metric = unsavedMetric(grant, opened, definition);
  const target = { opened, metric, dashboards: [opened.dashboard] };
  const query = { metricId: metric.metricId };
  const question = await questionFor(deps.store, grant, target, query, deps.clock.now());
  const { joinModel = 'multi', conditions } = question;
  const datamart = showsAll
    ? question.datamart
    : await withOpenColumns(deps.sqlRewriter, question.datasource.datasourceType, question.datamart);
  const unreadable = await unreadableTables(deps, question, signal);
  const isReadable = (table: DatamartTable): boolean => !unreadable.has(tableKey(table));
  const layer = await deps.store.semanticLayers.findByDatamart(datamart.id);
  const fields = guestFields({ datamart, isReadable, joinModel, conditions }, layer);
  return { fields, feedback: openFeedback(datamart, fields, layer) };
};

/**
 * Returns what the guest may build on: the fields that the datamart does not hide, of tables whose rows belong to
 * clients and that every restriction of the token fits. Reads no row. Throws UNAUTHORIZED unless the guest may create
 * metrics, or an author looks as this guest.
 */
export const listGuestFields =
  (deps: CatalogueDeps) =>
  async (
    { grant, author }: GuestCaller,
    { dashboardId }: { readonly dashboardId: string },
    signal: RequestSignal,
  ): Promise<GuestFields> => {
    const opened = await openDashboard(deps.store, grant, dashboardId);
    if (author === undefined) assertBuilds(grant, opened);
    else assertDefines(grant);
    return (await readCatalogue(deps, grant, opened, signal, author !== undefined)).fields;
  };
