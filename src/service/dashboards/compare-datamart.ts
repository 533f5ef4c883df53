/** Compares a datamart with the tables that its database has now. What is accepted is only computed: an update saves it. */
import { usesOf } from '../../model/dashboard/content-uses.js';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import type { Use } from '../../model/datamart/change-breaks.js';
import type { ComparedDatamart, ComparedModel } from '../../model/datamart/compared-datamart.js';
import type { ColumnRef, Datamart } from '../../model/datamart/datamart.js';
import { sourceKind } from '../../model/datamart/datatypes.js';
import type { ParsedSql, ReadSql } from '../../model/datamart/read-sql.js';
import { acceptChanges, guardFault } from '../../model/datamart/source-accepted.js';
import type { Compared, ModelParts, SourceChange } from '../../model/datamart/source-changes.js';
import { breaksOf, offersFor } from '../../model/datamart/source-offers.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { defaultSchemaOf } from '../../model/datamart/tables.js';
import { mergeTenancy } from '../../model/datamart/tenancy.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import type { DatasourceType } from '../../model/organization.js';
import type { DefinitionEngine, RequestSignal } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { unknownDatamart } from '../datamarts/tenancy.js';
import type { Store } from '../store/store.js';

type NamedContent = { readonly name: string; readonly content: Pick<DashboardContent, 'metrics' | 'filters'> };

type Deps = { readonly store: Store; readonly engine: DefinitionEngine; readonly sqlRewriter: SqlRewriter };

export type CompareDatamart = {
  readonly datamartName: string;
  readonly model: ComparedModel;
  /** Undefined: the dashboards of the organization. */
  readonly dashboards?: readonly NamedContent[] | undefined;
  readonly uses: readonly { readonly name: string; readonly where: string; readonly columns: readonly ColumnRef[] }[];
  readonly accept: readonly SourceChange[];
};

/** Tables without a schema are in the default one. */
const partsOf = ({ tenancySettings, tableList, ...parts }: ComparedModel, defaultSchema: string): ModelParts => ({
  ...parts,
  tableList: tableList.map((table) => ({ ...table, schemaName: table.schemaName ?? defaultSchema })),
  tenancy: tenancySettings === undefined ? null : (mergeTenancy(null, tenancySettings) ?? null),
});

const modelOf = ({ tenancySettings }: ComparedModel, { tenancy, ...parts }: ModelParts): ComparedModel => {
  const names =
    tenancySettings === undefined
      ? {}
      : { tenancySettings: { ...tenancySettings, ...(tenancy?.tenancyLevel === 'TABLE' ? tenancy : {}) } };
  return { ...parts, ...names };
};

/** The tables with the datatypes that the datamart knows. Their keys are not stored. */
const storedTables = ({ tables }: Datamart, database: DatasourceType): readonly SourceTable[] =>
  tables.map(({ schemaName, tableName, columns }) => ({
    ...{ schemaName, tableName, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
    columns: columns
      .filter(({ isCustomColumn }) => isCustomColumn !== true)
      .map(({ columnName, datatype }) => ({
        ...{ columnName, datatype, isNullable: true },
        kind: sourceKind(database, datatype),
      })),
  }));

const listContents = async (store: Store): Promise<readonly NamedContent[]> => {
  const found: NamedContent[] = [];
  for await (const workspaces of store.workspaces.list(null)) {
    for (const { id } of workspaces) {
      for await (const dashboards of store.dashboards.listByWorkspace(id, null, null)) {
        for (const dashboard of dashboards) {
          const placed = await store.dashboards.listMetrics(dashboard.id);
          const metrics = placed.map(({ metric, placement }) => ({ ...metric, placement }));
          found.push({ name: dashboard.name, content: { metrics, filters: dashboard.filters } });
        }
      }
    }
  }
  return found;
};

/** Reads each text once. */
const readerOf = async (
  { sqlRewriter }: Deps,
  database: DatasourceType,
  uses: readonly Use[],
  { tableList }: ModelParts,
): Promise<ReadSql> => {
  const parsed = new Map<string, ParsedSql>();
  const custom = tableList.flatMap(({ columns }) => columns.flatMap(({ sql }) => sql ?? []));
  for (const text of new Set([...uses.flatMap(({ sql }) => sql), ...custom])) {
    if (text === '') continue;
    // A text does not say whether it is an expression. None of the parsers takes one for the other.
    const select = await sqlRewriter.check(database, text, 'select');
    if (!('fault' in select) && select.names.length > 0)
      parsed.set(text, { tables: select.names, written: select.written });
    else {
      const expression = await sqlRewriter.check(database, text, 'expression');
      if (!('fault' in expression) && expression.names.length > 0) parsed.set(text, { columns: expression.names });
    }
  }
  return (text) => parsed.get(text);
};

const policyUse = ({ name, where, columns }: CompareDatamart['uses'][number]): Use => ({
  ...{ what: 'policy', name, where, tables: [], columns, sql: [] },
  typeFaults: () => [],
});

/** Throws INVALID_DATAMART or DATASOURCE_CONNECTION_ERROR. */
export const compareDatamart =
  (deps: Deps) =>
  async (_caller: ServiceCaller, command: CompareDatamart, signal?: RequestSignal): Promise<ComparedDatamart> => {
    const { store, engine } = deps;
    const { datamartName, model, accept } = command;
    const datamart = await store.datamarts.findByName(datamartName);
    const datasource = datamart && (await store.datasources.findById(datamart.datasourceId));
    if (datamart === undefined || datasource === undefined) throw unknownDatamart(datamartName);
    const parts = partsOf(model, defaultSchemaOf(datasource));
    const tables = await engine.introspect(datasource, [], { requestId: signal?.requestId });
    const contents = command.dashboards ?? (await listContents(store));
    const uses = [...contents.flatMap(({ name, content }) => usesOf(content, name)), ...command.uses.map(policyUse)];
    const readSql = await readerOf(deps, datasource.datasourceType, uses, parts);
    const stored = storedTables(datamart, datasource.datasourceType);
    const compared: Compared = { parts, stored, tables, readSql };
    return {
      offers: offersFor(compared, uses),
      accepted:
        accept.length === 0
          ? null
          : {
              model: modelOf(model, acceptChanges(compared, accept)),
              breaks: breaksOf(compared, accept, uses),
              fault: guardFault(compared, accept),
            },
    };
  };
