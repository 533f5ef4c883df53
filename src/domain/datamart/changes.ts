import { assertNoFaults } from '../faults.js';
import type { Datamart, Tenancy } from './datamart.js';
import {
  keptRelationshipFaults,
  nameTables,
  type RelationshipDraft,
  relationshipFaults,
  relationshipsOf,
  sharedTableFaults,
} from './relationships.js';
import { type SourceView, type TableDraft, tableListFaults, tablesOf } from './tables.js';
import { clientColumnFaults, masterFaults, mergeTenancy, type TenancyDraft, tenancyPathFaults } from './tenancy.js';

export type DatamartParts = Pick<Datamart, 'tenancy' | 'tables' | 'relationships' | 'sharedTables' | 'cacheTtlSeconds'>;

/** What is left out stays; lists replace what was there. */
export type DatamartChanges = {
  readonly tableList?: readonly TableDraft[] | undefined;
  readonly tenancySettings?: TenancyDraft | undefined;
  readonly relationships?: readonly RelationshipDraft[] | undefined;
  readonly sharedTables?: readonly string[] | undefined;
  /** Null clears it. */
  readonly cacheTtlSeconds?: number | null | undefined;
};

/** Of a datamart that is not there yet. */
export const noParts: DatamartParts = {
  tenancy: null,
  tables: [],
  relationships: [],
  sharedTables: [],
  cacheTtlSeconds: null,
};

/** Whether the changes name what only the datasource can tell. */
export const needsSource = ({ tableList, tenancySettings }: DatamartChanges): boolean =>
  tableList !== undefined || (tenancySettings !== undefined && (tenancySettings.tenancyLevel ?? 'TABLE') === 'TABLE');

/**
 * The schemas that the tables name, where one datamart reads several databases of a server: the primary one, and one that shows what
 * each client's tables look like.
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
  'tenancySettings.tenancyLevel: nothing came, expected TABLE, DATABASE or MULTI_DATABASE, since the datamart has no tenancy yet';

/**
 * The datamart's parts after the changes; `source` is needed where `needsSource` says so. Throws INVALID_REQUEST_BODY with
 * every fault of the whole that comes of it, so that no kept part is left without what it names.
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
  const tables = isListed && source !== undefined ? tablesOf(tableList, source) : current.tables;
  const named = nameTables(tables);
  const asked = relationships === undefined ? [] : relationshipFaults(relationships, named);
  const joined = relationships === undefined ? current.relationships : relationshipsOf(relationships, named);
  const shared = sharedTables ?? current.sharedTables;
  const fromSource = (faults: (view: SourceView) => readonly string[]) => (source === undefined ? [] : faults(source));
  assertNoFaults(
    [
      ...fromSource((view) => (isListed ? tableListFaults(tableList, view) : [])),
      ...(merged === undefined ? [levelMissing] : []),
      ...fromSource((view) => (tenancySettings === undefined || tenancy === null ? [] : masterFaults(tenancy, view))),
      ...fromSource((view) => clientColumnFaults(tables, tenancy, view, !isListed)),
      ...(relationships === undefined ? keptRelationshipFaults(isListed ? current.relationships : [], named) : asked),
      ...(asked.length === 0
        ? tenancyPathFaults({ tables, named, relationships: joined, sharedTables: shared }, !isListed)
        : []),
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
  };
};
