/** Writes the demo's organization to the store at every start, so that changes to the bundle take effect. */
import { join } from 'node:path';
import type { Dashboard } from '../model/dashboard/dashboard.js';
import { hostMade } from '../model/dashboard/metric.js';
import type { Datamart, Relationship } from '../model/datamart/datamart.js';
import { keyHintOf, type Workspace } from '../model/organization.js';
import type { Clock, Ids, Tokens } from '../model/ports.js';
import type { ExportedDashboard } from '../service/dashboards/contract/export.js';
import type { NamedStore } from '../service/store/named.js';
import type { Store } from '../service/store/store.js';
import type { DemoBundle } from './bundle.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly tokens: Tokens };
type Organization = DemoBundle['organization'];

const upsert = async <T extends { readonly id: string; readonly name: string }>(
  records: NamedStore<T>,
  item: T,
): Promise<T> => {
  if (await records.insert(item)) return item;
  const there = await records.findByName(item.name);
  if (there === undefined) throw new Error(`the demo's ${item.name} is taken and cannot be found`);
  const updated = { ...item, id: there.id };
  await records.update(updated);
  return updated;
};

const tableRef = (name: string): { schemaName: string; tableName: string } => {
  const [schemaName = '', tableName = ''] = name.split('.');
  return { schemaName, tableName };
};

const relationshipOf = (item: Organization['datamart']['relationships'][number]): Relationship => ({
  relationshipName: item.relationshipName,
  parent: { ...tableRef(item.parentTableName), columnName: item.parentColumnName },
  child: { ...tableRef(item.childTableName), columnName: item.childColumnName },
  cardinality: item.cardinality,
  join: item.join,
});

const datamartOf = ({ datamart }: Organization, datasourceId: string, id: string, now: Date): Datamart => ({
  id,
  name: datamart.name,
  datasourceId,
  tenancy: datamart.tenancySettings,
  tables: datamart.tableList.map(({ name, schemaName, clientColumn, tenancyPath, label, columns }) => ({
    schemaName,
    tableName: name,
    label,
    clientColumn,
    tenancyPath,
    isHide: false,
    columns: columns.map((column) => ({
      columnName: column.name,
      datatype: column.datatype,
      label: column.label,
      alias: '',
      isHide: false,
      isApplyTimezone: false,
    })),
  })),
  relationships: datamart.relationships.map(relationshipOf),
  sharedTables: datamart.sharedTables,
  createdAt: now,
  updatedAt: now,
});

const seedTemplate = async (
  { store, clock, ids }: Deps,
  workspace: Workspace,
  { dashboardId, name: title, content }: ExportedDashboard,
): Promise<void> => {
  const there = await store.dashboards.findTemplate(dashboardId);
  const dashboard: Dashboard = {
    id: there?.id ?? ids.uuid(),
    externalDashboardId: dashboardId,
    workspaceId: workspace.id,
    name: title,
    owner: null,
    templateId: null,
    layout: content.layout,
    gridMargin: content.gridMargin,
    filters: content.filters,
    tiles: content.tiles,
    metadata: content.metadata ?? null,
    isAllowPrivateMetricsByDefault: content.isAllowPrivateMetricsByDefault ?? false,
  };
  await (there === undefined ? store.dashboards.insert(dashboard) : store.dashboards.update(dashboard));
  for (const { metricId, name, definition, lineage } of content.metrics) {
    const metric = { metricId, workspaceId: workspace.id, name, definition, lineage, owner: null, ...hostMade };
    if (!(await store.metrics.insert(metric))) await store.metrics.update(metric);
  }
  await store.dashboards.placeMetrics(dashboard.id, content.metrics, clock.now());
};

const seedKey = async ({ store, clock, ids, tokens }: Deps, dataAppId: string, apiKey: string): Promise<void> => {
  const hash = tokens.hash(apiKey);
  // A key that was revoked or replaced is not created again.
  if (await store.apiKeys.isKnown(hash)) return;
  const id = ids.uuid();
  await store.apiKeys.insert({
    id,
    dataAppId,
    name: `demo ${id.slice(0, 8)}`,
    hash,
    keyHint: keyHintOf(apiKey),
    createdAt: clock.now(),
    expiresAt: null,
  });
};

/**
 * Writes the data app with its key, the datasource, the datamart, the workspace and the templates in one transaction.
 */
export const seedDemo = (
  deps: Deps,
  bundle: DemoBundle,
  options: { readonly dataDir: string; readonly apiKey: string },
): Promise<void> =>
  deps.store.transaction(async (store) => {
    const inside = { ...deps, store };
    const { organization, templates } = bundle;
    const now = deps.clock.now();
    const id = deps.ids.uuid;
    const dataApp = await upsert(store.dataApps, {
      id: id(),
      name: organization.dataApp,
      createdAt: now,
      updatedAt: now,
    });
    await seedKey(inside, dataApp.id, options.apiKey);
    const { name, datasourceType, path } = organization.datasource;
    const datasource = await upsert(store.datasources, {
      id: id(),
      name,
      syncedAt: (await store.datasources.findSummary(name))?.syncedAt ?? null,
      datasourceType,
      path: join(options.dataDir, path),
    });
    const datamart = await upsert(store.datamarts, datamartOf(organization, datasource.id, id(), now));
    const workspace = await upsert(store.workspaces, {
      id: id(),
      name: organization.workspace.name,
      connectionType: organization.workspace.connectionType,
      datasourceId: null,
      datamartId: datamart.id,
    });
    for (const template of templates) await seedTemplate(inside, workspace, template);
  });
