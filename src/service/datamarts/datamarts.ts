/** Datamarts: list (operation 8), create, update (9) and delete (10). */
import {
  changeParts,
  type DatamartChanges,
  type DatamartParts,
  namedDatabases,
  needsSource,
  noParts,
} from '../../model/datamart/changes.js';
import {
  type Datamart,
  type ListedColumns,
  type ListedDatamart,
  visibleDatamart,
} from '../../model/datamart/datamart.js';
import type { TenancyWarning } from '../../model/datamart/table-ownership.js';
import { assertNoFaults } from '../../model/faults.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { Datasource } from '../../model/organization.js';
import { pageOf } from '../../model/page.js';
import type { Clock, Ids } from '../../model/ports.js';
import { baseFilterFaults } from '../../model/query/base-filters.js';
import type { DefinitionEngine, RequestSignal } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import type { Slices } from '../../model/slices.js';
import type { Store } from '../store/store.js';
import { askedBy, readSource, readSourceOf } from './source.js';
import { customColumnFaults } from './sql-faults.js';
import { tenancyWarnings, unknownDatamart } from './tenancy.js';

type Deps = {
  readonly store: Store;
  readonly engine: DefinitionEngine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sqlRewriter: SqlRewriter;
};

/** A datamart after a write. `warnings` lists its tables on which every query is refused. */
export type WrittenDatamart = { readonly datamart: Datamart; readonly warnings: readonly TenancyWarning[] };

type ListCommand = { readonly isPagination: boolean; readonly pageNumber: number; readonly expandDetails: boolean };

/** Operation 8. Returns the datamarts, ordered by name. */
export const listDatamarts =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    { expandDetails, ...paging }: ListCommand,
  ): Promise<{ readonly items: Slices<ListedDatamart>; readonly expandDetails: boolean }> => ({
    items: store.datamarts.list(pageOf(paging)),
    expandDetails,
  });

const taken = (name: string): Refusal =>
  new Refusal(
    'DATAMART_ALREADY_EXISTS',
    `A datamart named ${JSON.stringify(name)} exists already; choose another name, or update that one.`,
  );

const unknownDatasource = (name: string): Refusal =>
  new Refusal('INVALID_DATASOURCE_NAME', `datasourceName: there is no datasource named ${JSON.stringify(name)}.`);

/** Throws INVALID_REQUEST_BODY if the engine could not compute a custom column. */
const assertComputable = async (
  sqlRewriter: SqlRewriter,
  datasource: Datasource | undefined,
  { tableList = [] }: DatamartChanges,
): Promise<void> => {
  if (datasource === undefined) return;
  assertNoFaults(await customColumnFaults(sqlRewriter, datasource.datasourceType, tableList), 'custom-columns');
};

export type CreateDatamart = DatamartChanges & { readonly name: string; readonly datasourceName: string };

/**
 * Creates a datamart. Throws DATAMART_ALREADY_EXISTS if the name is taken: of two simultaneous calls with one name, one
 * succeeds. Throws INVALID_DATASOURCE_NAME for an unknown datasource.
 */
export const createDatamart =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    { name, datasourceName, ...changes }: CreateDatamart,
    signal?: RequestSignal,
  ): Promise<WrittenDatamart> => {
    const { store, engine, clock, ids, sqlRewriter } = deps;
    const datasource = await store.datasources.findByName(datasourceName);
    if (datasource === undefined) throw unknownDatasource(datasourceName);
    if ((await store.datamarts.findByName(name)) !== undefined) throw taken(name);
    const source = await readSource(askedBy(engine, signal), datasource, namedDatabases(null, changes));
    const parts = checkedParts(noParts, changes, source);
    await assertComputable(sqlRewriter, datasource, changes);
    const now = clock.now();
    const datamart = { id: ids.uuid(), name, datasourceId: datasource.id, ...parts, createdAt: now, updatedAt: now };
    await store.transaction(async (inner) => {
      // The datasource may have been deleted since it was read.
      if (!(await inner.datasources.hold(datasource.id))) throw unknownDatasource(datasourceName);
      if (!(await inner.datamarts.insert(datamart))) throw taken(name);
    });
    return { datamart, warnings: await tenancyWarnings(deps, datamart, source) };
  };

/** Returns the parts after the changes. Throws INVALID_REQUEST_BODY also for base filters that do not fit the source. */
const checkedParts = (...[current, changes, source]: Parameters<typeof changeParts>): DatamartParts => {
  const parts = changeParts(current, changes, source);
  if (changes.tableList !== undefined && source !== undefined)
    assertNoFaults(baseFilterFaults(parts.tables, source), 'datamart-faulty');
  return parts;
};

export type UpdateDatamart = DatamartChanges & {
  readonly datamartName: string;
  /** The `updatedAt` that the caller had read. Undefined: any. */
  readonly expectedUpdatedAt?: string | undefined;
};

/** Returns a time after the last update, even if the clock went back, since the keys of cached answers contain it. */
const later = ({ updatedAt }: Datamart, clock: Clock): Date =>
  new Date(Math.max(clock.now().getTime(), updatedAt.getTime() + 1));

const assertUnchanged = ({ name, updatedAt }: Datamart, expected: string | undefined): void => {
  if (expected === undefined || Date.parse(expected) === updatedAt.getTime()) return;
  throw new Refusal(
    'DATAMART_CHANGED',
    `expectedUpdatedAt: datamart ${JSON.stringify(name)} was changed at ${updatedAt.toISOString()}. Read it again, and make the change to it.`,
  );
};

/** `isVersioned`: the caller named the version to change, and is told the new one. */
type UpdatedDatamart = WrittenDatamart & { readonly isVersioned: boolean };

/**
 * Operation 9. The datasource is read before the transaction, so that the transaction waits only for the metadata
 * database. Of two simultaneous updates, the later one applies to the result of the earlier one and keeps its changes.
 */
export const updateDatamart =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    { datamartName, expectedUpdatedAt, ...changes }: UpdateDatamart,
    signal?: RequestSignal,
  ): Promise<UpdatedDatamart> => {
    const { store, engine, clock, sqlRewriter } = deps;
    const known = await store.datamarts.findByName(datamartName);
    if (known === undefined) throw unknownDatamart(datamartName);
    const source = needsSource(changes)
      ? await readSourceOf(store, askedBy(engine, signal), known, namedDatabases(known.tenancy, changes))
      : undefined;
    await assertComputable(sqlRewriter, await store.datasources.findById(known.datasourceId), changes);
    const datamart = await store.transaction(async (inner) => {
      const current = await inner.datamarts.lockByName(datamartName);
      // The datamart was deleted, and possibly created again over another datasource.
      if (current?.id !== known.id) throw unknownDatamart(datamartName);
      assertUnchanged(current, expectedUpdatedAt);
      const updated = { ...current, ...checkedParts(current, changes, source), updatedAt: later(current, clock) };
      await inner.datamarts.update(updated);
      return updated;
    });
    const warnings = await tenancyWarnings(deps, datamart, source);
    return { datamart, warnings, isVersioned: expectedUpdatedAt !== undefined };
  };

/** Operation 10. Deletes the datamart and everything that depends on it. */
export const deleteDatamart =
  ({ store }: Pick<Deps, 'store'>) =>
  (_caller: ServiceCaller, { datamartName }: { readonly datamartName: string }): Promise<Datamart> =>
    store.transaction(async (inner) => {
      const datamart = await inner.datamarts.lockByName(datamartName);
      if (datamart === undefined) {
        throw new Refusal(
          'INVALID_REQUEST_BODY',
          `datamartName: there is no datamart named ${JSON.stringify(datamartName)}.`,
          { reason: 'datamart-unknown' },
        );
      }
      await inner.embeds.removeByDatamart(datamart.name);
      await inner.datamarts.remove(datamart.id);
      return datamart;
    });

/** Returns the datamart, and the part of it that end users see. Throws INVALID_DATAMART. */
export const listDatamartColumns =
  ({ store }: { readonly store: Pick<Store, 'datamarts'> }) =>
  async (
    _caller: ApiKeyCaller | ServiceCaller,
    { datamartName }: { readonly datamartName: string },
  ): Promise<ListedColumns> => {
    const datamart = await store.datamarts.findByName(datamartName);
    if (datamart === undefined) throw unknownDatamart(datamartName);
    return { datamart, visible: visibleDatamart(datamart) };
  };
