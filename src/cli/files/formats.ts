/**
 * The kinds of files: datamarts, dashboards, embeds and the policy. Each has one schema: that of a policy, or the one of
 * the operation that creates the object. Each has one canonical form, so that a file and what the service has can be
 * compared. Reads and writes nothing.
 */
import { z } from 'zod';
import { policySchema } from '../../gateway/policy/schema.js';
import { isSameJson } from '../../model/canonical-json.js';
import { identifier, list } from '../../platform/http/interface/fields.js';
import type { getDashboardContent } from '../../service/dashboards/contract/content.js';
import { dashboardData, exportVersion } from '../../service/dashboards/contract/export.js';
import type { listDatamarts } from '../../service/datamarts/contract/datamarts.js';
import { createDatamart } from '../../service/datamarts/contract/writes.js';
import { createEmbed } from '../../service/embeds/contract/embeds.js';

export type Kind = 'datamart' | 'dashboard' | 'embed' | 'policy';
type Json = Readonly<Record<string, unknown>>;

const metric = dashboardData.shape.metrics.element;
export const datamartFile = createDatamart.input;
/** The fields of an import beside those of its data. A metric has no lineage: its `metricId` is where it comes from. */
export const dashboardFile = z.strictObject({
  workspaceName: identifier,
  dashboardId: identifier.describe('Identifies the dashboard.'),
  dashboardName: identifier.describe('The title. It cannot be changed after the dashboard is created.'),
  ...dashboardData.shape,
  metrics: list(metric.omit({ lineage: true })),
});
const [dashboardEmbed, metricEmbed] = createEmbed.input.options;
const embedName = { name: identifier.describe('Identifies the embed within the data app.') };
/** An embed's id is random, so its name identifies it. */
export const embedFile = z.discriminatedUnion('embedType', [
  dashboardEmbed.extend(embedName),
  metricEmbed.extend(embedName),
]);
export type DatamartFile = z.output<typeof datamartFile>;
export type DashboardFile = z.output<typeof dashboardFile>;
export type EmbedFile = z.output<typeof embedFile>;

type Format = { readonly folder: string; readonly schemaFile: string; readonly title: string };
/** Where the files of a kind are. Schemas are in `.schemas` beside the folders. */
export const formats: Readonly<Record<Kind, Format & { readonly schema: z.ZodType }>> = {
  datamart: { folder: 'datamarts', schemaFile: 'datamart.json', title: 'Guestlist datamart', schema: datamartFile },
  dashboard: {
    folder: 'dashboards',
    schemaFile: 'dashboard.json',
    title: 'Guestlist dashboard',
    schema: dashboardFile,
  },
  embed: { folder: 'embeds', schemaFile: 'embed.json', title: 'Guestlist embed', schema: embedFile },
  policy: { folder: 'policies', schemaFile: 'policy.json', title: 'Guestlist policy', schema: policySchema },
};
/** In the order in which objects are created: later ones stand on earlier ones. */
export const kinds: readonly Kind[] = ['datamart', 'dashboard', 'embed', 'policy'];

/** The JSON Schema of a kind, for editors. */
export const jsonSchemaOf = (kind: Kind): Json => {
  const { schema, title } = formats[kind];
  const written = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => void delete jsonSchema.id,
  });
  return { title, ...written };
};

const columnDefaults: Json = {
  alias: '',
  label: '',
  isHide: false,
  isCustomColumn: false,
  sql: '',
  isAggregate: false,
  allowAggregate: false,
  defaultAggregation: null,
  isApplyTimezone: false,
  defaultSort: null,
  defaultGrain: null,
  numbers: null,
  dates: null,
  isBoolean: false,
};
const tableDefaults: Json = {
  clientColumn: null,
  tenancyPath: null,
  through: null,
  baseFilters: null,
  leftOut: null,
  isHide: false,
  label: '',
  wildcard: null,
};
const relationshipDefaults: Json = { cardinality: null, join: null };

/** The object without the fields that have their default, which is what a missing field means. */
const without = <Item extends object>(item: Item, defaults: Json): Item =>
  Object.fromEntries(
    Object.entries(item).filter(
      ([name, value]) => value !== undefined && !(name in defaults && value === defaults[name]),
    ),
  ) as Item;

type Table = DatamartFile['tableList'][number];

/** A table's name alone if only one table has it, else `schema.table`. What names no table stays. */
const shortName = (name: string, tables: readonly Table[]): string => {
  const meant = tables.filter((table) => table.name === name || `${table.schemaName}.${table.name}` === name);
  const [table] = meant;
  if (table === undefined || meant.length > 1) return name;
  return tables.filter((other) => other.name === table.name).length === 1 ? table.name : name;
};

const withSchema = (table: Table, known: readonly Table[]): Table => {
  const meant = table.schemaName === undefined ? known.filter(({ name }) => name === table.name) : [];
  const [schemaName] = meant.map((other) => other.schemaName);
  return meant.length !== 1 || schemaName === undefined ? table : { ...table, schemaName };
};

const tenancyOf = (given: DatamartFile['tenancySettings'], known: DatamartFile['tenancySettings']) => {
  if (given === undefined) return undefined;
  // The service keeps the fields that a change leaves out.
  const { primaryDatabase, ...tenancy } = { ...known, ...given };
  return tenancy.tenancyLevel === 'TABLE' || primaryDatabase == null ? tenancy : { ...tenancy, primaryDatabase };
};

/** Returns the datamart in its canonical form. `known`: the service's, for what a file may leave out. */
export const canonicalDatamart = (given: DatamartFile, known?: DatamartFile): DatamartFile => {
  const tables = given.tableList.map((table) => withSchema(table, known?.tableList ?? []));
  /** A file that does not say whether a column is a boolean leaves it as it is. */
  const declared = (table: Table, column: Table['columns'][number]): Table['columns'][number] => {
    if (column.isBoolean !== undefined) return column;
    const was = known?.tableList.find(({ name, schemaName }) => name === table.name && schemaName === table.schemaName);
    const { isBoolean } = was?.columns.find(({ name }) => name === column.name) ?? {};
    return isBoolean === undefined ? column : { ...column, isBoolean };
  };
  const tenancySettings = tenancyOf(given.tenancySettings, known?.tenancySettings);
  const { cacheTtlSeconds, cacheStaleSeconds, rollups = [] } = given;
  return {
    name: given.name,
    datasourceName: given.datasourceName,
    tableList: tables.map((table) => ({
      ...without(table, tableDefaults),
      columns: table.columns.map((column) =>
        without({ ...declared(table, column), defaultSort: column.defaultSort || null }, columnDefaults),
      ),
    })),
    ...(tenancySettings === undefined ? {} : { tenancySettings }),
    relationships: given.relationships.map((each) => ({
      ...without(each, relationshipDefaults),
      parentTableName: shortName(each.parentTableName, tables),
      childTableName: shortName(each.childTableName, tables),
    })),
    sharedTables: given.sharedTables.map((name) => shortName(name, tables)),
    ...(cacheTtlSeconds == null ? {} : { cacheTtlSeconds }),
    ...(cacheStaleSeconds == null ? {} : { cacheStaleSeconds }),
    ...(rollups.length === 0
      ? {}
      : { rollups: rollups.map((each) => ({ ...each, from: shortName(each.from, tables) })) }),
  };
};

type Listed = z.output<(typeof listDatamarts)['output']>['data'][number];

/** The datamart of a listing, as its file has it. */
export const listedDatamart = (listed: Listed): DatamartFile => {
  const tenancy = Object.entries(listed.datamartOrganization ?? {}).filter(([, value]) => value !== null);
  const given = {
    name: listed.name,
    datasourceName: listed.companyIntegration.name,
    tableList: (listed.datamartTables ?? []).map(({ tableName: name, datamartTableColumns, ...table }) => ({
      name,
      ...without(table, tableDefaults),
      columns: datamartTableColumns.map(({ columnName, datatype: _, ...column }) => ({
        name: columnName,
        ...without(column, columnDefaults),
      })),
    })),
    ...(tenancy.length === 0 ? {} : { tenancySettings: Object.fromEntries(tenancy) }),
    relationships: (listed.datamartRelationships ?? []).map((each) => without(each, relationshipDefaults)),
    sharedTables: listed.sharedTables ?? [],
    cacheTtlSeconds: listed.cacheTtlSeconds ?? null,
    cacheStaleSeconds: listed.cacheStaleSeconds ?? null,
    rollups: listed.rollups ?? [],
  };
  return canonicalDatamart(datamartFile.parse(given));
};

/** Returns the dashboard in its canonical form: what a file leaves out has its default. */
export const canonicalDashboard = ({ version: _, ...given }: DashboardFile): DashboardFile => ({
  ...given,
  isAllowPrivateMetricsByDefault: given.isAllowPrivateMetricsByDefault ?? false,
  metadata: given.metadata ?? null,
});

export type Content = z.output<(typeof getDashboardContent)['output']>;
/** `content` has the service's own ids and the digest that a replacement names. */
export type StoredDashboard = { readonly value: DashboardFile; readonly content: Content };
type StoredMetric = Content['data']['metrics'][number];

/**
 * The ids that files use, by the service's own ids. An import gives each metric a new id and keeps the id of the file as
 * its origin, so the origin is the same in every installation. If two metrics of a dashboard have one origin, their own
 * ids are used.
 */
export const fileIdsOf = (metrics: readonly StoredMetric[]): ReadonlyMap<string, string> => {
  const origins = metrics.map(({ metricId, lineage }) => lineage.at(-1) ?? metricId);
  const isAlone = (origin: string): boolean => origins.filter((other) => other === origin).length === 1;
  return new Map(
    metrics.map(({ metricId }, at) => [metricId, isAlone(origins[at] ?? '') ? (origins[at] ?? metricId) : metricId]),
  );
};

/** The dashboard of the service, as its file has it. */
export const storedDashboard = (workspaceName: string, { _meta, data }: Content): DashboardFile => {
  const ids = fileIdsOf(data.metrics);
  const { version: _, ...rest } = data;
  const given = {
    workspaceName,
    dashboardId: _meta.dashboardId,
    dashboardName: _meta.name,
    ...rest,
    layout: data.layout.map((card) => ({ ...card, metricId: ids.get(card.metricId) ?? card.metricId })),
    metrics: data.metrics.map(({ lineage: __, ...each }) => ({
      ...each,
      metricId: ids.get(each.metricId) ?? each.metricId,
    })),
  };
  return canonicalDashboard(dashboardFile.parse(given));
};

const definition = metric.shape.definition;

/** The definition without the fields that mean the same if they are missing. */
const shortDefinition = (given: DashboardFile['metrics'][number]['definition']): Json => {
  const isNeeded = (name: string): boolean => {
    const parsed = definition.safeParse(Object.fromEntries(Object.entries(given).filter(([other]) => other !== name)));
    return !parsed.success || !isSameJson(parsed.data, given);
  };
  return Object.fromEntries(Object.entries(given).filter(([name]) => isNeeded(name)));
};

/** The content of a dashboard's file: short, in the contract's order. */
export const dashboardContent = (dashboard: DashboardFile): Json => {
  const { workspaceName, dashboardId, dashboardName, isAllowPrivateMetricsByDefault, metadata, ...rest } = dashboard;
  return {
    workspaceName,
    dashboardId,
    dashboardName,
    version: exportVersion,
    ...rest,
    metrics: dashboard.metrics.map((each) => ({ ...each, definition: shortDefinition(each.definition) })),
    ...(isAllowPrivateMetricsByDefault === true ? { isAllowPrivateMetricsByDefault } : {}),
    ...(metadata == null ? {} : { metadata }),
  };
};
