/**
 * Rollups as the engine uses them: which one answers a question, and with which rows. If anything is in doubt, the source
 * is asked.
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Datamart, Rollup } from '../../model/datamart/datamart.js';
import { sameTable } from '../../model/datamart/datamart.js';
import type { Clock } from '../../model/ports.js';
import type { MetricQuestion } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import {
  erasedMark,
  filesOf,
  folderOf,
  type KeptFile,
  type Lock,
  listFolders,
  type Manifest,
  type Partition,
  publishFiles,
  publishManifest,
  readErased,
  readManifest,
  removeFolder,
  removeStrays,
  stampOf,
  withLock,
  writeErased,
} from '../../platform/files/rollup-folder.js';
import type { Timing } from '../../platform/work/time.js';
import type { CacheKeyParts } from '../cache/key.js';
import type { Database, Log } from '../connections/database.js';
import type { Databases } from '../datasources/databases.js';
import type { Catalog } from '../dialect/catalog.js';
import type { TenantPredicate } from '../dialect/dialect.js';
import type { TenantScopedPlan } from '../plan/plan.js';
import type { Prepared, Scoped } from '../prepare/prepared.js';
import type { RunResult } from '../run/run.js';
import { storedDatamart } from '../scope/column-rules.js';
import { scopeToTenant } from '../scope/scope-to-tenant.js';
import { compile } from '../sql/compile.js';
import { type BuildQuestion, createAssertOpen, createBuild, layoutIn, type RollupPlace } from './builder.js';
import { keptText, Unkept } from './cells.js';
import { mayHave } from './client-span.js';
import { catalogOfLayout, type Layout } from './layout.js';
import type { FileLimits } from './partition-file.js';
import { type Asked, Misfit, planOverRollup, type RollupPlan } from './question.js';
import { createReader, dialectOver, type Tail } from './reader.js';
import { tailColumns, tailPlan } from './source-plan.js';
import { meets } from './time-span.js';
import { type WriterProcess, withWriter } from './writer.js';

export type RollupsOptions = {
  /** The folder that replicas share. */
  readonly folder: string;
  readonly limits: FileLimits;
  /** The processes that build. */
  readonly processes: WriterProcess;
  /** Groups of a tenant's open time; with more of them, the source answers. */
  readonly tailRows: number;
  /** Called within the span of each build that has succeeded. Left out: nobody hears of it. */
  readonly built?: ((datamart: string, rollup: string) => void) | undefined;
};

type Options = RollupsOptions & {
  readonly log: Log;
  readonly databases: Databases;
  readonly batchBytes: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly timing: Timing;
};

/** The files of a rollup that answers are read from. Null: there are none. */
export type RollupState = {
  readonly isCurrent: boolean;
  readonly manifest: Manifest | null;
};

/** A question that a rollup answers: its statements, and where they run. */
export type Chosen = Scoped & {
  readonly run: Database['run'];
  /** When the oldest of the rows that it reads was read from the source. */
  readonly asOf: string;
};

/** Reads the tenant's open time from the source: in the client's turn, or from the result cache. */
export type ReadTail = (question: CacheKeyParts['question'], tail: Scoped) => Promise<RunResult>;

export type Rollups = {
  /** Null: the source answers. */
  readonly choose: (
    database: Database,
    question: MetricQuestion,
    prepared: Prepared,
    readTail: ReadTail,
  ) => Promise<Chosen | null>;
  readonly build: (asked: BuildQuestion, signal: AbortSignal) => Promise<Manifest>;
  readonly assertOpen: (place: RollupPlace, signal: AbortSignal) => Promise<void>;
  readonly state: (place: RollupPlace) => Promise<RollupState>;
  /** Removes the files of all other rollups. */
  readonly keepOnly: (kept: readonly Pick<RollupPlace, 'datamart' | 'rollup'>[]) => Promise<void>;
  /** Removes the client's rows from all files. Throws if a file may still have some. */
  readonly eraseClient: (clientId: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The layout for a datamart and a catalog; null: the rollup cannot be built as they are. */
const createLayouts = () => {
  const known = new WeakMap<Catalog, WeakMap<Datamart, Map<string, Layout | null>>>();
  const make = (database: Database, place: RollupPlace): Layout | null => {
    try {
      return layoutIn(database, place);
    } catch (cause) {
      if (cause instanceof Refusal && cause.reason === 'rollup-refused') return null;
      throw cause;
    }
  };
  return (database: Database, place: RollupPlace): Layout | null => {
    const ofCatalog = known.get(database.catalog) ?? new WeakMap<Datamart, Map<string, Layout | null>>();
    known.set(database.catalog, ofCatalog);
    const ofDatamart = ofCatalog.get(place.datamart) ?? new Map<string, Layout | null>();
    ofCatalog.set(place.datamart, ofDatamart);
    const found = ofDatamart.get(place.rollup.name);
    if (found !== undefined) return found;
    const layout = make(database, place);
    ofDatamart.set(place.rollup.name, layout);
    return layout;
  };
};

/** The manifests in force, read anew when they have changed. */
const createManifests = (root: string) => {
  const known = new Map<string, { readonly stamp: string; readonly manifest: Manifest | undefined }>();
  return async (datamartId: string, rollup: Rollup): Promise<Manifest | undefined> => {
    const folder = folderOf(root, datamartId, rollup);
    const stamp = await stampOf(folder);
    if (stamp === null) {
      known.delete(folder);
      return undefined;
    }
    const found = known.get(folder);
    if (found?.stamp === stamp) return found.manifest;
    const manifest = await readManifest(folder);
    known.set(folder, { stamp, manifest });
    return manifest;
  };
};

type Fitting = { readonly rollup: Rollup; readonly layout: Layout; readonly manifest: Manifest } & RollupPlan;

const planOrNull = (asked: Asked, layout: Layout): RollupPlan | null => {
  try {
    return planOverRollup(asked, layout);
  } catch (cause) {
    if (cause instanceof Misfit) return null;
    throw cause;
  }
};

const isSameTenant = (one: TenantPredicate | null, other: TenantPredicate | null): boolean => {
  if (one === null || other === null) return one === other;
  if (one.kind === 'column' && other.kind === 'column')
    return (
      one.columnName === other.columnName && one.value.text === other.value.text && one.value.cast === other.value.cast
    );
  if (one.kind !== 'all' || other.kind !== 'all' || one.items.length !== other.items.length) return false;
  return one.items.every((item, at) => isSameTenant(item, other.items[at] ?? null));
};

/** The value of the client column for this tenant; undefined: the predicate names another column. */
const boundClient = (tenant: TenantPredicate | null, clientColumn: string | null): string | undefined =>
  tenant?.kind === 'column' && tenant.columnName === clientColumn ? tenant.value.text : undefined;

/** The datamart in which the table has the rollup's columns. Base filters held when it was built. */
const datamartOver = (datamart: Datamart, { rollup, columns }: Layout): Datamart => ({
  ...storedDatamart(datamart),
  tables: storedDatamart(datamart).tables.map((table) => {
    if (!sameTable(table, rollup.from)) return table;
    const { baseFilters: _, hiddenColumns: __, ...own } = table;
    const plain = { alias: '', label: '', datatype: '', isHide: false, isApplyTimezone: false };
    return { ...own, columns: columns.map(({ name }) => ({ ...plain, columnName: name })) };
  }),
});

const rowsOf = ({ partitions }: Manifest): number =>
  partitions.flatMap(({ files }) => files).reduce((sum, { rows }) => sum + rows, 0);

type Finding = {
  readonly layoutFor: ReturnType<typeof createLayouts>;
  readonly manifestOf: ReturnType<typeof createManifests>;
};

/** The smallest rollup that answers. */
const findFitting = async (
  { layoutFor, manifestOf }: Finding,
  database: Database,
  { datasource, datamart, tenant, definition }: MetricQuestion,
  scoped: TenantScopedPlan,
): Promise<Fitting | null> => {
  const { rollups = [] } = datamart;
  if (rollups.length === 0 || database.catalog.client !== undefined) return null;
  const asked = { scoped, unfiltered: definition.withoutBaseFilters ?? [] };
  const client = tenant.kind === 'tenant' ? erasedMark(tenant.clientId) : null;
  const fitting: Fitting[] = [];
  for (const rollup of rollups) {
    const layout = layoutFor(database, { datasource, datamart, rollup });
    const planned = layout === null ? null : planOrNull(asked, layout);
    if (layout === null || planned === null) continue;
    const manifest = await manifestOf(datamart.id, rollup);
    if (manifest?.hash !== layout.hash || (client !== null && manifest.erased.includes(client))) continue;
    fitting.push({ rollup, layout, manifest, ...planned });
  }
  return fitting.toSorted((a, b) => rowsOf(a.manifest) - rowsOf(b.manifest))[0] ?? null;
};

/** Whether a question may have rows that no file has. */
const needsTail = ({ manifest: { closedUntil }, span }: Fitting): boolean =>
  span.hasNull || span.to === null || span.to > closedUntil;

type Open = {
  readonly database: Database;
  readonly question: MetricQuestion;
  readonly fitting: Fitting;
  /** The tenant's predicate, as the source has it. */
  readonly tenantOf: TenantPredicate | null;
  readonly tailRows: number;
  readonly readTail: ReadTail;
};

/** Null: it has more groups than the bound, or a value that a file would not hold. */
const tailOf = async ({ database, question, fitting, tenantOf, tailRows, readTail }: Open): Promise<Tail | null> => {
  const { layout, manifest } = fitting;
  if (!needsTail(fitting)) return undefined;
  const datamart = storedDatamart(question.datamart);
  const client = boundClient(tenantOf, layout.clientColumn);
  const columns = tailColumns(layout, client !== undefined);
  const listed = new Set(layout.table.columns.map(({ columnName }) => columnName));
  // The leaf has the datamart's columns alone.
  if (!columns.every(({ of }) => of === null || listed.has(of))) return null;
  const planned = tailPlan(layout, manifest.closedUntil, columns, tailRows + 1);
  const scoped = scopeToTenant(planned, question.tenant, { datamart, catalog: database.catalog });
  if (!isSameTenant(scoped.leaves[0]?.tenant ?? null, tenantOf)) return null;
  const { dataAppId, epoch, tenant, datasource } = question;
  const asked = { dataAppId, epoch, tenant, datasource, datamart, timezone: null };
  const compiled = compile(scoped, database.dialect);
  const { rows, isCut } = await readTail(asked, { scoped, compiled, page: planned.page });
  if (isCut === true || rows.length > tailRows) return null;
  try {
    return layout.columns.map((column) => {
      const at = columns.indexOf(column);
      return rows.map((row) => (at < 0 ? (client ?? null) : keptText(row[at] ?? null, column)));
    });
  } catch (cause) {
    if (cause instanceof Unkept) return null;
    throw cause;
  }
};

/** The statements over files and tail, in the scope of the tenant. Null: the scope is not that of the source. */
const chosenOf = (
  root: string,
  { datamart, tenant }: MetricQuestion,
  { rollup, layout, manifest, plan, span }: Fitting,
  tenantOf: TenantPredicate | null,
  tail: Tail,
): Omit<Chosen, 'run'> | null => {
  // The first file also has all rows before it.
  const partitions = manifest.partitions.filter((one, at) =>
    meets(span, { from: at === 0 ? null : one.from, to: one.to }),
  );
  const source = {
    datamart: datamartOver(datamart, layout),
    catalog: catalogOfLayout(layout, `rollup ${manifest.version}`),
  };
  const scoped = scopeToTenant(plan, tenant, source);
  if (!isSameTenant(scoped.leaves[0]?.tenant ?? null, tenantOf)) return null;
  const folder = folderOf(root, datamart.id, rollup);
  const client = boundClient(tenantOf, layout.clientColumn);
  const files = partitions.flatMap((one) => one.files.filter(({ clients }) => mayHave(clients, client, layout)));
  const compiled = compile(scoped, dialectOver({ layout, folder, files: files.map(({ file }) => file), tail }));
  const [oldest = manifest.checkedAt] = partitions.map(({ builtAt }) => builtAt).toSorted();
  return { scoped, compiled, page: plan.page, asOf: oldest };
};

/** How often, and after which time, an erasure tries to get the lock of a builder. */
const lockTries = 100;
const lockWaitMs = 200;

/** A build sees the list of erased clients and ends, so its lock is free before long. */
const inTurn = async (
  folder: string,
  { clock, timing }: Pick<Options, 'clock' | 'timing'>,
  work: (lock: Lock) => Promise<void>,
): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await withLock(folder, { now: clock.now, timing }, work);
    } catch (cause) {
      if (!(cause instanceof Refusal && cause.reason === 'rollup-busy')) throw cause;
      const message = 'A rollup is being built. Retry the erasure.';
      if (tries >= lockTries) throw new Refusal('UPSTREAM_UNAVAILABLE', message, { cause, reason: 'rollup-busy' });
    }
    await new Promise<void>((resolve) => void timing.after(lockWaitMs, resolve));
  }
};

const rewritten = async (
  folder: string,
  { partitions, clientColumn }: Manifest,
  erased: readonly string[],
  { limits, processes, log, timing }: Options,
): Promise<readonly Partition[]> => {
  if (clientColumn === null) return partitions;
  return withWriter({ ...processes, folder, limits, source: null, log, timing }, async (writer) => {
    const kept: Partition[] = [];
    for (const partition of partitions) {
      const files: KeptFile[] = [];
      for (const one of partition.files) {
        const path = join(folder, `.${randomUUID()}.parquet`);
        const written = await writer.rewrite({ from: join(folder, one.file), path, clientColumn, erased });
        // An empty copy is not named, and removed.
        const made = written === null || written.rows === 0 ? [] : [written];
        files.push(...(written === null ? [one] : await publishFiles(folder, partition.from, made)));
      }
      kept.push({ ...partition, files });
    }
    return kept;
  });
};

/** Also files of earlier versions are removed: they have the client's rows, and a reader of one asks the source. */
const eraseIn = (folder: string, mark: string, options: Options): Promise<void> =>
  inTurn(folder, options, async (lock) => {
    const known = await readManifest(folder);
    const partitions = known === undefined ? [] : await rewritten(folder, known, [mark], options);
    await lock.assertHeld();
    if (known !== undefined) {
      const erased = [...new Set([...known.erased, mark])];
      const made = { ...known, version: randomUUID(), partitions: [...partitions], retired: [], erased };
      await publishManifest(folder, made);
    }
    // This process has the lock, so nobody else is writing a file.
    const ageless = { now: new Date(8_640_000_000_000_000), ageMs: 0 };
    await removeStrays(folder, new Set(filesOf(partitions)), ageless);
  });

export const createRollups = (options: Options): Rollups => {
  const { folder: root, limits, tailRows, timeoutMs } = options;
  const finding: Finding = { layoutFor: createLayouts(), manifestOf: createManifests(root) };
  const reader = createReader(root, limits.memoryMegabytes, timeoutMs);
  return {
    build: createBuild(options),
    assertOpen: createAssertOpen(options),
    state: ({ datasource, datamart, rollup }) =>
      options.databases.use(datasource, null, async (database) => {
        const manifest = (await readManifest(folderOf(root, datamart.id, rollup))) ?? null;
        const layout = finding.layoutFor(database, { datasource, datamart, rollup });
        return { manifest, isCurrent: manifest !== null && manifest.hash === layout?.hash };
      }),
    choose: async (database, question, { visual }, readTail) => {
      if (visual === undefined) return null;
      const fitting = await findFitting(finding, database, question, visual);
      if (fitting === null) return null;
      const tenantOf = visual.leaves[0]?.tenant ?? null;
      const tail = await tailOf({ database, question, fitting, tenantOf, tailRows, readTail });
      const chosen = tail === null ? null : chosenOf(root, question, fitting, tenantOf, tail);
      return chosen === null ? null : { ...chosen, run: reader.run };
    },
    keepOnly: async (kept) => {
      const folders = new Set(kept.map(({ datamart, rollup }) => folderOf(root, datamart.id, rollup)));
      for (const folder of await listFolders(root)) if (!folders.has(folder)) await removeFolder(folder);
    },
    eraseClient: async (clientId) => {
      const mark = erasedMark(clientId);
      await mkdir(root, { recursive: true, mode: 0o700 });
      await inTurn(root, options, async () => {
        const erased = await readErased(root);
        if (!erased.includes(mark)) await writeErased(root, [...erased, mark]);
      });
      for (const folder of await listFolders(root)) await eraseIn(folder, mark, options);
    },
    close: reader.close,
  };
};
