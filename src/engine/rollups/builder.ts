/**
 * Builds rollups: one period after the other, each by one streamed query of the source, for all tenants at once. Another
 * process reads and writes; what it reads is decided here. Until the new manifest stands in the folder, the earlier one
 * is in force.
 */
import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Datamart, Rollup } from '../../model/datamart/datamart.js';
import type { TenantScope } from '../../model/datamart/tenant.js';
import type { Datasource } from '../../model/organization.js';
import type { Clock } from '../../model/ports.js';
import type { Cell } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import {
  filesOf,
  folderOf,
  type Lock,
  type Manifest,
  type Partition,
  publishFiles,
  publishManifest,
  readErased,
  readManifest,
  removeFile,
  removeManifest,
  removeStrays,
  strayMs,
  withLock,
} from '../../platform/files/rollup-folder.js';
import type { Timing } from '../../platform/work/time.js';
import type { Database, Log, Running } from '../connections/database.js';
import type { Databases } from '../datasources/databases.js';
import { inSpanOfSql } from '../datasources/traced-runs.js';
import type { Statement } from '../dialect/dialect.js';
import type { Plan } from '../plan/plan.js';
import { storedDatamart } from '../scope/column-rules.js';
import { scopeToAllTenants } from '../scope/scope-to-tenant.js';
import { compile } from '../sql/compile.js';
import { Unkept } from './cells.js';
import { type Layout, layoutOf, refuseRollup } from './layout.js';
import type { FileLimits } from './partition-file.js';
import { nextStart, partitionPlan, periodsPlan, type Span, startOf } from './source-plan.js';
import { type RollupSource, rollupSources } from './sources.js';
import type { AnswerTo } from './wire.js';
import { type Writer, type WriterProcess, withWriter } from './writer.js';

/** Nobody: where the database has row-level security, it shows no row. Such tables are refused before. */
const nobody: TenantScope = { kind: 'untenanted' };

export type RollupPlace = { readonly datasource: Datasource; readonly datamart: Datamart; readonly rollup: Rollup };

type Options = {
  readonly folder: string;
  readonly limits: FileLimits;
  readonly processes: WriterProcess;
  readonly log: Log;
  readonly batchBytes: number;
  readonly databases: Databases;
  readonly clock: Clock;
  readonly timing: Timing;
};

/** Readers open the files of a manifest within this time. */
const retiredMs = 600_000;
const hourMs = 3_600_000;
/** More files than these make each question slow. */
const greatestPartitions = 2000;

const sourceOf = ({ datasource: { datasourceType }, rollup: { name } }: RollupPlace): RollupSource =>
  rollupSources[datasourceType] ??
  refuseRollup(
    `Rollup ${JSON.stringify(name)}: rollups are built of ${Object.keys(rollupSources).join(', ')}; ${datasourceType} answers itself.`,
  );

/** Throws where the datasource decides over rows by itself, since a file would not ask it. */
const assertOpenRows = async (database: Database, place: RollupPlace, running: Running): Promise<void> => {
  const source = sourceOf(place);
  const { name, from } = place.rollup;
  if (source.openness === undefined) return;
  const { rows } = await database.run(source.openness.statement(from), nobody, running);
  const fault = source.openness.faultOf(rows[0] ?? []);
  if (fault !== undefined) refuseRollup(`Rollup ${JSON.stringify(name)}: ${from.tableName} ${fault}.`);
};

/** As `assertOpenRows`, and takes the files of the folder out of force where it throws. */
const assertOpenIn = async (folder: string, ...asked: Parameters<typeof assertOpenRows>): Promise<void> => {
  try {
    await assertOpenRows(...asked);
  } catch (cause) {
    if (cause instanceof Refusal && cause.reason === 'rollup-refused') await removeManifest(folder);
    throw cause;
  }
};

/** Whether the rows of the table are still open to all who may read it. */
export const createAssertOpen =
  ({ folder: root, databases }: Pick<Options, 'folder' | 'databases'>) =>
  (place: RollupPlace, signal: AbortSignal): Promise<void> => {
    const folder = folderOf(root, place.datamart.id, place.rollup);
    return databases.use(place.datasource, null, (database) => assertOpenIn(folder, database, place, { signal }));
  };

/** The layout, also for a datamart with a token's rules. */
export const layoutIn = (database: Database, { datasource, datamart, rollup }: RollupPlace): Layout =>
  layoutOf(rollup, { datasource, datamart: storedDatamart(datamart), catalog: database.catalog });

type Work = {
  readonly database: Database;
  readonly place: RollupPlace;
  readonly layout: Layout;
  readonly signal: AbortSignal;
};

const statementOf = ({ database, place, layout }: Work, plan: Plan): Statement => {
  const datamart = storedDatamart(place.datamart);
  const { columns: kept, changeColumn } = layout;
  const others = [place.rollup.partition.column, ...(changeColumn === null ? [] : [changeColumn])];
  const columns = [...new Set([...kept.flatMap(({ of }) => of ?? []), ...others])];
  const scoped = scopeToAllTenants(plan, { datamart, catalog: database.catalog }, columns);
  const { sql, parameters, assumed } = compile(scoped, database.dialect).page;
  return { sql, parameters, assumed };
};

/** Lets the process read the source, with one connection of those that this process may have. */
const readSource = <R>(
  { databases }: Pick<Options, 'databases'>,
  { place: { datasource }, signal }: Work,
  statement: Statement,
  read: () => Promise<R>,
  rowsOf: (answer: R) => number,
): Promise<R> => databases.withSetAside(datasource, () => inSpanOfSql(statement, datasource, read, rowsOf), signal);

type Period = Span & Pick<Partition, 'sourceRows' | 'mark'> & { readonly start: string; readonly end: string };

/** What was read of the rows of periods, in the order of time. Names no value. */
const markOf = (read: readonly (readonly Cell[])[]): string =>
  createHash('sha256').update(JSON.stringify(read)).digest('hex');

/** The closed periods that have rows. The first one also has all rows before it. */
const readPeriods = async (
  options: Options,
  writer: Writer,
  work: Work,
  closedUntil: string,
): Promise<readonly Period[]> => {
  const { by } = work.layout.rollup.partition;
  const statement = statementOf(work, periodsPlan(work.layout, sourceOf(work.place).sumOfTimes));
  const rowsOf = (all: AnswerTo<'read'>): number => all.length;
  const rows = await readSource(options, work, statement, () => writer.read({ statement }), rowsOf);
  const counted = rows
    .flatMap(([cell, ...read]) =>
      typeof cell === 'string' && cell !== 'Infinity'
        ? [{ start: cell.slice(0, 10), count: Number(read[0] ?? 0), read }]
        : [],
    )
    .toSorted((a, b) => (a.start < b.start ? -1 : 1));
  const isDay = (start: string): boolean => /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(start);
  const closed = counted.filter(({ start }) => isDay(start) && start < closedUntil);
  // Infinite dates, and years that are written with a sign, are before all others or after them.
  const earlier = counted.filter(({ start }) => start.startsWith('-'));
  const [first] = closed;
  if (first === undefined && earlier.length > 0) refuseRollup('The table has infinite dates, and no closed period.');
  return closed.map((one) => {
    const { start } = one;
    const end = nextStart(by, start);
    const isFirst = one === first;
    const own = isFirst ? [...earlier, one] : [one];
    const sourceRows = own.reduce((sum, { count }) => sum + count, 0);
    return { start, end, from: isFirst ? null : start, to: end, sourceRows, mark: markOf(own.map(({ read }) => read)) };
  });
};

const isAlike = (one: Partition, { start, end, mark }: Period): boolean =>
  one.from === start && one.to === end && one.mark === mark;

/** The files that stay as they are. Where another period is the first now, its file lacks what came before. */
const keptPartitions = (
  known: Manifest | undefined,
  periods: readonly Period[],
  { isWhole, again, hash }: { readonly isWhole: boolean; readonly again: number; readonly hash: string },
): ReadonlyMap<string, Partition> => {
  if (known === undefined || known.hash !== hash || isWhole) return new Map();
  const latest = new Set(again === 0 ? [] : periods.slice(-again).map(({ start }) => start));
  const isFirstSame = known.partitions[0]?.from === periods[0]?.start;
  return new Map(
    periods.flatMap((period, at) => {
      const same = known.partitions.find((one) => isAlike(one, period));
      return same === undefined || latest.has(period.start) || (at === 0 && !isFirstSame) ? [] : [[period.start, same]];
    }),
  );
};

export type BuildQuestion = RollupPlace & {
  /** Whether also files that seem to be up to date are made anew. */
  readonly isWhole: boolean;
};

export type Build = (asked: BuildQuestion, signal: AbortSignal) => Promise<Manifest>;

const unlessUnkept = async <R>(name: string, work: () => Promise<R>): Promise<R> => {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Unkept)) throw cause;
    return refuseRollup(`Rollup ${JSON.stringify(name)} cannot be built: ${cause.message}.`, cause);
  }
};

/** A client that was erased during the build would be back with it. */
const assertSameErased = async (root: string, erased: readonly string[]): Promise<void> => {
  if ((await readErased(root)).length === erased.length) return;
  const message = 'A client was erased during the build. Build again.';
  throw new Refusal('METRIC_QUERY_ERROR', message, { reason: 'rollup-busy' });
};

type Writing = Work & {
  readonly folder: string;
  readonly erased: readonly string[];
  readonly writer: Writer;
};

const writePeriod = async (options: Options, writing: Writing, period: Period): Promise<Partition> => {
  const { layout, folder, erased, writer } = writing;
  const { columns, clientColumn } = layout;
  const path = join(folder, `.${randomUUID()}`);
  const statement = statementOf(writing, partitionPlan(layout, period));
  const { batchBytes, limits, clock } = options;
  const question = { statement, columns, clientColumn, batchBytes, path, erased, fileRows: limits.fileRows };
  const rowsOf = (files: AnswerTo<'write'>): number => files.reduce((sum, { rows }) => sum + rows, 0);
  try {
    const write = () => readSource(options, writing, statement, () => writer.write(question), rowsOf);
    const written = await unlessUnkept(layout.rollup.name, write);
    const { start: from, end: to, sourceRows, mark } = period;
    const files = await publishFiles(folder, from, written);
    return { from, to, files: [...files], sourceRows, mark, builtAt: clock.now().toISOString() };
  } finally {
    await rm(path, { recursive: true, force: true });
  }
};

/** The files that are in force after the build, and those that no reader opens any more. */
const manifestOf = (
  { layout }: Work,
  known: Manifest | undefined,
  made: Pick<Manifest, 'closedUntil' | 'partitions' | 'erased'>,
  now: Date,
): { readonly manifest: Manifest; readonly over: readonly string[] } => {
  const files = new Set(filesOf(made.partitions));
  const before = known?.retired ?? [];
  const recent = before.filter(({ at }) => now.getTime() - Date.parse(at) <= retiredMs);
  const left = filesOf(known?.partitions ?? []).filter((file) => !files.has(file));
  const manifest: Manifest = {
    ...{ version: randomUUID(), hash: layout.hash, checkedAt: now.toISOString(), clientColumn: layout.clientColumn },
    ...made,
    retired: [...recent, ...left.map((file) => ({ file, at: now.toISOString() }))],
  };
  return { manifest, over: before.filter((one) => !recent.includes(one)).map(({ file }) => file) };
};

type Building = { readonly folder: string; readonly isWhole: boolean; readonly lock: Lock };

/** Writes the files of the closed periods that `keep` does not leave as they are. */
const writePartitions = async (
  options: Options,
  writing: Writing,
  closedUntil: string,
  keptOf: (periods: readonly Period[]) => ReadonlyMap<string, Partition>,
): Promise<readonly Partition[]> => {
  const { writer, layout, erased, signal } = writing;
  const periods = await readPeriods(options, writer, writing, closedUntil);
  const { by } = layout.rollup.partition;
  if (periods.length > greatestPartitions)
    refuseRollup(`${periods.length} periods would be as many files; divide by longer ones than a ${by}.`);
  const kept = keptOf(periods);
  const made: Partition[] = [];
  for (const period of periods) {
    signal.throwIfAborted();
    await assertSameErased(options.folder, erased);
    made.push(kept.get(period.start) ?? (await writePeriod(options, writing, period)));
  }
  return made;
};

const buildIn = async (options: Options, work: Work, { folder, isWhole, lock }: Building): Promise<Manifest> => {
  const { folder: root, limits, processes, log, databases, clock, timing } = options;
  const { layout, place, signal } = work;
  const { partition, refresh } = layout.rollup;
  const known = await readManifest(folder);
  const erased = await readErased(root);
  const now = clock.now();
  const closedUntil = startOf(partition.by, new Date(now.getTime() - partition.closesAfterHours * hourMs));
  const isSameErased = known !== undefined && erased.every((mark) => known.erased.includes(mark));
  const keep = { isWhole: isWhole || !isSameErased, again: refresh.again, hash: layout.hash };
  const source = { datasource: place.datasource, limits: databases.openLimits };
  const partitions = await withWriter({ ...processes, folder, limits, source, log, timing, signal }, (writer) =>
    writePartitions(options, { ...work, folder, erased, writer }, closedUntil, (periods) =>
      keptPartitions(known, periods, keep),
    ),
  );
  const { manifest, over } = manifestOf(
    work,
    known,
    { closedUntil, partitions: [...partitions], erased: [...erased] },
    now,
  );
  await lock.assertHeld();
  await assertSameErased(root, erased);
  await publishManifest(folder, manifest);
  for (const file of over) await removeFile(folder, file);
  const named = [...filesOf(manifest.partitions), ...manifest.retired.map(({ file }) => file)];
  await removeStrays(folder, new Set(named), { now, ageMs: strayMs });
  return manifest;
};

/**
 * Builds the closed periods that are new, changed or among the latest. Throws INVALID_REQUEST_BODY for what cannot be
 * kept; the earlier files are then in force, unless the source decides over rows by itself now.
 */
export const createBuild =
  (options: Options): Build =>
  ({ isWhole, ...place }, signal) => {
    const { folder: root, databases, clock, timing } = options;
    const folder = folderOf(root, place.datamart.id, place.rollup);
    const build = (database: Database): Promise<Manifest> =>
      withLock(folder, { now: clock.now, timing }, async (lock) => {
        await assertOpenIn(folder, database, place, { signal });
        const layout = layoutIn(database, place);
        return buildIn(options, { database, place, layout, signal }, { folder, isWhole, lock });
      });
    return databases.use(place.datasource, null, build);
  };
