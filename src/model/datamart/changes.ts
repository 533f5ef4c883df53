import { assertNoFaults } from '../faults.js';
import type { Datamart, Tenancy } from './datamart.js';
import { moneyFaults } from './money.js';
import {
  keptRelationshipFaults,
  nameTables,
  type RelationshipDraft,
  relationshipFaults,
  relationshipsOf,
  sharedTableFaults,
} from './relationships.js';
import { keptRollupFaults, type RollupDraft, rollupFaults, rollupsOf } from './rollups.js';
import { type SourceView, type TableDraft, tableListFaults, tablesOf } from './tables.js';
import {
  clientColumnFaults,
  masterFaults,
  mergeTenancy,
  type TenancyDraft,
  tenancyPathFaults,
  throughFaults,
} from './tenancy.js';

export type DatamartParts = Pick<
  Datamart,
  'tenancy' | 'tables' | 'relationships' | 'sharedTables' | 'cacheTtlSeconds' | 'cacheStaleSeconds' | 'rollups'
>;

/** Changes to a datamart. A missing field keeps the stored value; a list replaces the stored list. */
export type DatamartChanges = {
  readonly tableList?: readonly TableDraft[] | undefined;
  readonly tenancySettings?: TenancyDraft | undefined;
  readonly relationships?: readonly RelationshipDraft[] | undefined;
  readonly sharedTables?: readonly string[] | undefined;
  /** Null removes the stored value. */
  readonly cacheTtlSeconds?: number | null | undefined;
  /** Null removes the stored value. */
  readonly cacheStaleSeconds?: number | null | undefined;
  /** Replaces the stored list. */
  readonly rollups?: readonly RollupDraft[] | undefined;
};

/** Parts of a datamart that is being created. */
export const noParts: DatamartParts = {
  tenancy: null,
  tables: [],
  relationships: [],
  sharedTables: [],
  cacheTtlSeconds: null,
  cacheStaleSeconds: null,
};

/** Whether the changes can be checked only with the tables of the datasource. */
export const needsSource = ({ tableList, tenancySettings }: DatamartChanges): boolean =>
  tableList !== undefined || (tenancySettings !== undefined && (tenancySettings.tenancyLevel ?? 'TABLE') === 'TABLE');

/**
 * Returns the schemas that the tables name, if one datamart reads several databases of a server. These are the primary
 * database and a database that serves as the model of each client's tables. Otherwise empty.
 */
export const namedDatabases = (
  current: Tenancy | null,
  { tableList = [], tenancySettings }: DatamartChanges,
): readonly string[] => {
  const level = tenancySettings?.tenancyLevel ?? current?.tenancyLevel;
  if (level !== 'MULTI_DATABASE') return [];
  return [...new Set(tableList.flatMap(({ schemaName }) => (schemaName === undefined ? [] : [schemaName])))];
};

const levelMissing =
  'tenancySettings.tenancyLevel: missing, expected TABLE, DATABASE or MULTI_DATABASE, since the datamart has no tenancy yet';

/**
 * Returns the datamart's parts after the changes. `source` is required if `needsSource` returns true. Throws
 * INVALID_REQUEST_BODY with every fault of the result, so that no kept part refers to a removed table or column.
 */
export const changeParts = (
  current: DatamartParts,
  changes: DatamartChanges,
  source: SourceView | undefined,
): DatamartParts => {
  const { tableList, tenancySettings, relationships, sharedTables } = changes;
  const isListed = tableList !== undefined;
  const merged = tenancySettings === undefined ? current.tenancy : mergeTenancy(current.tenancy, tenancySettings);
  const tenancy: Tenancy | null = merged ?? null;
  const tables = isListed && source !== undefined ? tablesOf(tableList, source, current.tables) : current.tables;
  const named = nameTables(tables);
  const asked = relationships === undefined ? [] : relationshipFaults(relationships, named);
  const joined = relationships === undefined ? current.relationships : relationshipsOf(relationships, named);
  const shared = sharedTables ?? current.sharedTables;
  const whole = { tenancy, tables, named, relationships: joined, sharedTables: shared };
  const keptRollups = current.rollups ?? [];
  const fromSource = (faults: (view: SourceView) => readonly string[]) => (source === undefined ? [] : faults(source));
  assertNoFaults(
    [
      ...fromSource((view) => (isListed ? tableListFaults(tableList, view) : [])),
      ...(merged === undefined ? [levelMissing] : []),
      ...fromSource((view) => (tenancySettings === undefined || tenancy === null ? [] : masterFaults(tenancy, view))),
      ...fromSource((view) => clientColumnFaults(tables, tenancy, view, !isListed)),
      ...(relationships === undefined ? keptRelationshipFaults(isListed ? current.relationships : [], named) : asked),
      ...(asked.length === 0 ? [...tenancyPathFaults(whole, !isListed), ...throughFaults(whole, !isListed)] : []),
      ...moneyFaults({ tenancy, tables, relationships: joined }, isListed),
      ...(changes.rollups === undefined ? keptRollupFaults(keptRollups, whole) : rollupFaults(changes.rollups, whole)),
      ...sharedTableFaults(sharedTables ?? (isListed ? current.sharedTables : []), named, sharedTables === undefined),
    ],
    'datamart-faulty',
  );
  return {
    tenancy,
    tables,
    relationships: joined,
    sharedTables: shared,
    cacheTtlSeconds: changes.cacheTtlSeconds === undefined ? current.cacheTtlSeconds : changes.cacheTtlSeconds,
    cacheStaleSeconds: changes.cacheStaleSeconds === undefined ? current.cacheStaleSeconds : changes.cacheStaleSeconds,
    rollups: changes.rollups === undefined ? keptRollups : rollupsOf(changes.rollups, named),
  };
};
