/** Datasources: create, replace, list and sync. A datasource is stored only after a successful connection. */
import type { ColumnRef } from '../../model/datamart/datamart.js';
import { type ProposedModel, proposalsAbout, proposeModel } from '../../model/datamart/proposed-model.js';
import { offeredTables, type SourceTable, withoutEstimate } from '../../model/datamart/source-schema.js';
import { findTables } from '../../model/datamart/source-search.js';
import { type ServiceCaller, seesData } from '../../model/guest/caller.js';
import { readHost } from '../../model/host.js';
import {
  type Datasource,
  type DatasourceConnection,
  type DatasourceSummary,
  type FileConnection,
  isFile,
  type ServerConnection,
  usualSchemaOf,
} from '../../model/organization.js';
import { type Paged, pageItems, pageOf } from '../../model/page.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { ColumnRepeats, DefinitionEngine, Engine, RequestSignal } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Slices } from '../../model/slices.js';
import { assertUnused, usersToName } from '../common/still-in-use.js';
import { askedBy } from '../datamarts/source.js';
import type { SyncedSource } from '../store/source-syncs.js';
import type { Store } from '../store/store.js';

type ServerFields = Omit<ServerConnection, 'datasourceType' | 'schema'>;

export type SaveDatasource =
  | {
      readonly datasourceType: FileConnection['datasourceType'];
      readonly credentials: Omit<FileConnection, 'datasourceType'> & { readonly name: string };
    }
  | {
      readonly datasourceType: ServerConnection['datasourceType'];
      readonly credentials: ServerFields & { readonly name: string; readonly schema?: string | undefined };
    };

type Deps = { readonly store: Store; readonly engine: DefinitionEngine; readonly clock: Clock; readonly ids: Ids };

const connectionOf = (saved: SaveDatasource): DatasourceConnection => {
  if (isFile(saved)) return { datasourceType: saved.datasourceType, path: saved.credentials.path };
  const { datasourceType } = saved;
  const { host, port, username, password, database, schema, isSsl, replicas, maxLagSeconds } = saved.credentials;
  return {
    datasourceType,
    host: readHost(host) ?? host,
    port,
    username,
    password,
    database,
    schema: usualSchemaOf(datasourceType) === null ? null : (schema ?? null),
    isSsl,
    ...(replicas === undefined
      ? {}
      : { replicas: replicas.map((at) => ({ ...at, host: readHost(at.host) ?? at.host })) }),
    ...(maxLagSeconds === undefined ? {} : { maxLagSeconds }),
  };
};

const taken = (name: string): Refusal =>
  new Refusal(
    'DATASOURCE_ALREADY_EXISTS',
    `A datasource named ${JSON.stringify(name)} exists already; choose another name, or change that one by PUT.`,
  );

const unknown = (name: string): Refusal =>
  new Refusal('DATASOURCE_ID_ERROR', `There is no datasource ${JSON.stringify(name)}.`);

const look = async (
  engine: Pick<Engine, 'introspect' | 'listClientDatabases'>,
  datasource: Datasource,
): Promise<SyncedSource> => {
  const tables = await engine.introspect(datasource);
  return { tables, clientDatabases: await engine.listClientDatabases(datasource) };
};

/**
 * Creates a datasource. Throws DATASOURCE_ALREADY_EXISTS, or DATASOURCE_CONNECTION_ERROR if the database cannot be
 * reached; then nothing is stored.
 */
export const createDatasource =
  ({ store, engine, clock, ids }: Deps) =>
  async (_caller: ServiceCaller, command: SaveDatasource, signal?: RequestSignal): Promise<Datasource> => {
    const { name } = command.credentials;
    if ((await store.datasources.findSummary(name)) !== undefined) throw taken(name);
    const syncedAt = clock.now();
    const datasource: Datasource = { id: ids.uuid(), name, syncedAt, ...connectionOf(command) };
    try {
      const found = await look(askedBy(engine, signal), datasource);
      await store.transaction(async (inner) => {
        if (!(await inner.datasources.insert(datasource))) throw taken(name);
        await inner.datasources.saveSync(datasource.id, found, syncedAt);
      });
    } catch (error) {
      await engine.forget(datasource.id);
      throw error;
    }
    return datasource;
  };

/**
 * Throws INVALID_REQUEST_BODY if the type differs. spec-gap: the type cannot change, because the datamarts name
 * datatypes and schemas of that kind of database.
 */
const assertSameType = ({ name, datasourceType }: DatasourceSummary, command: SaveDatasource): void => {
  if (datasourceType === command.datasourceType) return;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `datasourceType: datasource ${JSON.stringify(name)} is of type ${datasourceType}, which stays: its datamarts are written for it. Create another datasource.`,
    { reason: 'datasource-type-changed' },
  );
};

/**
 * Replaces all connection settings. It does not read the stored ones, so it also repairs credentials that were
 * encrypted with a lost key. Throws DATASOURCE_ID_ERROR, or DATASOURCE_CONNECTION_ERROR if the database cannot be
 * reached with the new settings; then the stored ones are kept.
 */
export const updateDatasource =
  ({ store, engine, clock, ids }: Deps) =>
  async (_caller: ServiceCaller, command: SaveDatasource, signal?: RequestSignal): Promise<Datasource> => {
    const there = await store.datasources.findSummary(command.credentials.name);
    if (there === undefined) throw unknown(command.credentials.name);
    assertSameType(there, command);
    const syncedAt = clock.now();
    const datasource: Datasource = { id: there.id, name: there.name, syncedAt, ...connectionOf(command) };
    // The new settings are tried under a temporary id, so that queries on the stored datasource are not disturbed,
    // whatever the result.
    const trial = { ...datasource, id: ids.uuid() };
    try {
      const found = await look(askedBy(engine, signal), trial);
      await store.transaction(async (inner) => {
        // The datasource may have been deleted since.
        if (!(await inner.datasources.hold(datasource.id))) throw unknown(datasource.name);
        await inner.datasources.update(datasource);
        await inner.datasources.saveSync(datasource.id, found, syncedAt);
      });
    } finally {
      await engine.forget(trial.id);
    }
    await engine.forget(datasource.id);
    return datasource;
  };

/**
 * Changes password and user of a server, and keeps its other settings. Throws as `updateDatasource`, and
 * INVALID_REQUEST_BODY for a file.
 */
export const updateDatasourceLogin =
  (deps: Deps) =>
  async (
    caller: ServiceCaller,
    {
      name,
      username,
      password,
    }: { readonly name: string; readonly username?: string | undefined; readonly password: string },
    signal?: RequestSignal,
  ): Promise<Datasource> => {
    const stored = await deps.store.datasources.findByName(name);
    if (stored === undefined) throw unknown(name);
    if (isFile(stored))
      throw new Refusal(
        'INVALID_REQUEST_BODY',
        `name: datasource ${JSON.stringify(name)} is a file, which has no login. Name a server.`,
        { reason: 'datasource-without-login' },
      );
    const { id: _, syncedAt: __, datasourceType, schema, ...server } = stored;
    const kept = { ...server, name, schema: schema ?? undefined };
    const credentials = { ...kept, username: username ?? stored.username, password };
    return updateDatasource(deps)(caller, { datasourceType, credentials }, signal);
  };

/** Returns the datasources, ordered by name. Reads no credentials. */
export const listDatasources =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    command: { readonly isPagination: boolean; readonly pageNumber: number },
  ): Promise<Slices<DatasourceSummary>> =>
    store.datasources.list(pageOf(command));

/**
 * Reads the datasource's tables, and the databases that may belong to a client, again. `name` may also be the id.
 * Throws DATASOURCE_ID_ERROR or DATASOURCE_CONNECTION_ERROR.
 */
export const syncDatasource =
  ({ store, engine, clock }: Omit<Deps, 'ids'>) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }, signal?: RequestSignal) => {
    const datasource = (await store.datasources.findByName(name)) ?? (await store.datasources.findById(name));
    if (datasource === undefined) throw unknown(name);
    const syncedAt = clock.now();
    const found = await look(askedBy(engine, signal), datasource);
    try {
      await store.transaction(async (inner) => {
        if (!(await inner.datasources.hold(datasource.id))) throw unknown(datasource.name);
        await inner.datasources.saveSync(datasource.id, found, syncedAt);
      });
    } finally {
      await engine.forget(datasource.id);
    }
    return { name: datasource.name, tableCount: offeredTables(found.tables).length };
  };

/**
 * Returns the current tables of the datasource that `search` names, or one page of them, with proposals for a datamart.
 * Reads no rows and stores nothing. Throws DATASOURCE_ID_ERROR or DATASOURCE_CONNECTION_ERROR.
 */
export const listDatasourceTables =
  ({ store, engine }: { readonly store: Pick<Store, 'datasources'>; readonly engine: Pick<Engine, 'introspect'> }) =>
  async (
    caller: ServiceCaller,
    { name, search, ...paging }: Paged & { readonly name: string; readonly search?: string | undefined },
    signal?: RequestSignal,
  ): Promise<{
    readonly name: string;
    readonly datasourceType: Datasource['datasourceType'];
    readonly tableCount: number;
    readonly tables: readonly SourceTable[];
    readonly proposals: ProposedModel;
  }> => {
    const datasource = await store.datasources.findByName(name);
    if (datasource === undefined) throw unknown(name);
    const read = offeredTables(await engine.introspect(datasource, [], { requestId: signal?.requestId }));
    const all = seesData(caller) ? read : read.map(withoutEstimate);
    const found = findTables(all, search ?? '');
    const tables = pageItems(found, paging);
    const proposals = proposeModel(all);
    return {
      name: datasource.name,
      datasourceType: datasource.datasourceType,
      tableCount: found.length,
      tables,
      proposals: tables.length === all.length ? proposals : proposalsAbout(proposals, tables),
    };
  };

/** Rows of a table that a comparison reads at most: more would take a database's time for an answer that stays the same. */
const comparedRows = 1_000_000;

/**
 * Counts how often the values of two columns repeat, over the rows of all clients. Throws DATASOURCE_ID_ERROR, and
 * INVALID_REQUEST_BODY for a column that the datasource does not have.
 */
export const compareDatasourceColumns =
  ({ store, engine }: { readonly store: Pick<Store, 'datasources'>; readonly engine: Pick<Engine, 'countRepeats'> }) =>
  async (
    _caller: ServiceCaller,
    { name, from, to }: { readonly name: string; readonly from: ColumnRef; readonly to: ColumnRef },
    signal: RequestSignal,
  ): Promise<{ readonly from: ColumnRepeats; readonly to: ColumnRepeats }> => {
    const datasource = await store.datasources.findByName(name);
    if (datasource === undefined) throw unknown(name);
    const question = { datasource, columns: [from, to], maxRows: comparedRows };
    const [ofFrom, ofTo] = await engine.countRepeats(question, signal);
    if (ofFrom === undefined || ofTo === undefined) throw new TypeError('a count for each of two columns');
    return { from: ofFrom, to: ofTo };
  };

/**
 * Deletes a datasource on which no datamart and no workspace stands, and closes its connections. Throws
 * DATASOURCE_ID_ERROR, or STILL_IN_USE; then nothing is changed. A datamart or workspace that is created at the same
 * time either stands on it before the deletion, which is then refused, or is refused itself.
 */
export const deleteDatasource =
  ({ store, engine }: Pick<Deps, 'store' | 'engine'>) =>
  async (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<DatasourceSummary> => {
    const deleted = await store.transaction(async (inner) => {
      const datasource = await inner.datasources.findSummary(name);
      if (datasource === undefined || !(await inner.datasources.lock(datasource.id))) throw unknown(name);
      const { datamarts, workspaces } = await inner.datasources.listUsers(datasource.id, usersToName);
      assertUnused(
        `Datasource ${JSON.stringify(name)}`,
        { datamart: datamarts, workspace: workspaces },
        'Delete the datamarts, and connect the workspaces to another source, first.',
      );
      await inner.datasources.remove(datasource.id);
      return datasource;
    });
    await engine.forget(deleted.id);
    return deleted;
  };
