/**
 * Derives which client a row belongs to if clients share tables (`tenancyLevel: TABLE`). A table has a client column,
 * follows many-to-one relationships to a table that has one, is read through a bridge that does, or is listed in
 * `sharedTables`. No other table is readable.
 */
import { type Datamart, type DatamartTable, findTable, type TableRef, type Through } from './datamart.js';
import {
  bridgeState,
  edgesOf,
  hasPath,
  isAmong,
  isListedAsShared,
  type OwnerColumn,
  ownerColumn,
  type TenancySource,
  type TenancyStep,
  type UniqueKeys,
  validSteps,
} from './tenancy-steps.js';
import { explainBridge, explainMissing, explainSeveral, isSameStep, type Unreadable } from './unreadable-table.js';

export type TableTenancy =
  | OwnerColumn
  | {
      /** `bridge`: the first step leads to the bridge, which may have several rows for one of the table. */
      readonly kind: 'path' | 'bridge';
      /** Steps from the table to `owner`; at least one. */
      readonly steps: readonly TenancyStep[];
      readonly owner: OwnerColumn & TableRef;
    }
  | { readonly kind: 'shared' }
  | Unreadable;

/**
 * Returns the tenancy of a table of the datamart, without the client columns that an embed adds. Throws TypeError if
 * the datamart has another tenancy level or does not have the table.
 */
export const tableTenancy = (datamart: Datamart, table: TableRef, uniqueKeys: UniqueKeys): TableTenancy => {
  const found = findTable(datamart, table);
  if (datamart.tenancy?.tenancyLevel !== 'TABLE' || found === undefined) {
    throw new TypeError('only a table of a datamart that separates clients by table has a tenancy of its own');
  }
  const owner = ownerColumn(datamart, found);
  if (owner !== null) return owner;
  if (isListedAsShared(found, datamart)) return { kind: 'shared' };
  const source = { datamart, uniqueKeys, known: new Map() };
  return found.through == null ? derivedTenancy(source, found) : bridgedTenancy(source, found, found.through);
};

/** The bridge itself belongs to one tenant: by a column, or by a path, which never leads through a bridged table. */
const bridgedTenancy = (source: TenancySource, table: DatamartTable, through: Through): TableTenancy => {
  const { datamart } = source;
  const edge = edgesOf(datamart, table).find(({ step }) => step.relationshipName === through.relationship);
  const bridge = edge && findTable(datamart, edge.step.far);
  if (edge === undefined || bridge === undefined) return explainBridge(table, through, 'through-unknown');
  const state = bridgeState(source, edge);
  if (state !== 'valid') return explainBridge(table, through, state, edge.step.far);
  const { schemaName, tableName } = bridge;
  const column = ownerColumn(datamart, bridge);
  if (column !== null) return { kind: 'bridge', steps: [edge.step], owner: { schemaName, tableName, ...column } };
  const isOwned = bridge.through == null && !isListedAsShared(bridge, datamart);
  const own = isOwned ? derivedTenancy(source, bridge) : undefined;
  return own?.kind === 'path'
    ? { ...own, kind: 'bridge', steps: [edge.step, ...own.steps] }
    : explainBridge(table, through, 'through-unowned', edge.step.far, own?.kind === 'unreadable' ? own.message : '');
};

const derivedTenancy = (source: TenancySource, table: DatamartTable): TableTenancy => {
  const [path, other] = findPaths(source, table);
  if (path === undefined) return explainMissing(source, table);
  if (other !== undefined) return explainSeveral(table, path.steps, other.steps);
  return { kind: 'path', ...path };
};

type Path = Pick<Extract<TableTenancy, { kind: 'path' | 'bridge' }>, 'steps' | 'owner'>;

/**
 * Returns up to two different paths. The search enters a table only if a path leads on from it, so dead ends cost no
 * time.
 */
const findPaths = (source: TenancySource, table: DatamartTable): readonly Path[] => {
  const found: Path[] = [];
  const walk = (from: DatamartTable, before: readonly TenancyStep[], visited: readonly TableRef[]): void => {
    for (const step of validSteps(source, from)) {
      const next = findTable(source.datamart, step.far);
      if (found.length > 1 || next === undefined || isAmong(visited, next)) continue;
      const steps = [...before, step];
      const column = ownerColumn(source.datamart, next);
      if (column === null) {
        if (hasPath(source, next, visited)) walk(next, steps, [...visited, next]);
      } else if (!found.some((known) => isSamePath(known.steps, steps))) {
        const { schemaName, tableName } = next;
        found.push({ steps, owner: { schemaName, tableName, ...column } });
      }
    }
  };
  walk(table, [], [table]);
  return found;
};

const isSamePath = (a: readonly TenancyStep[], b: readonly TenancyStep[]): boolean =>
  a.length === b.length && a.every((step, index) => isSameStep(step, b[index]));
