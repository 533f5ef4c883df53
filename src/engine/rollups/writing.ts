/** Answers the questions of `wire.ts`, one after the other, with one DuckDB instance and one connection to the source. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DatasourceType } from '../../model/organization.js';
import { systemTiming } from '../../platform/work/time.js';
import { createConnectionBudget } from '../connections/budget.js';
import type { Log, OpenDatabase, OpenedDatabase } from '../connections/database.js';
import { openWithReplicas } from '../datasources/replicas.js';
import { type OpenedFiles, openFiles, rewriteFile, writeFilesOf } from './partition-file.js';
import type { AnswerTo, Asked, QuestionKind, QuestionOf, Source, Told } from './wire.js';
import { toldError } from './wire.js';

/** As long as a source that does not answer may keep the process from ending. */
const leaveMs = 5000;

const tell = (told: Told): void => {
  process.send?.(told);
};

const writeLine =
  (level: keyof Log) =>
  (line: object, message: string): void => {
    const err: unknown = Reflect.get(line, 'err');
    tell({ kind: 'line', level, line: err === undefined ? line : { ...line, err: toldError(err) }, message });
  };

const log: Log = { warn: writeLine('warn'), error: writeLine('error') };
const leaving = new AbortController();
const running = { signal: leaving.signal };
/** The rows belong to no tenant; see builder.ts. */
const nobody = { kind: 'untenanted' } as const;

/** Those of `rollupSources`, each loaded where it is read: the others would double what a start costs. */
const openers: Readonly<Partial<Record<DatasourceType, () => Promise<OpenDatabase<never>>>>> = {
  DUCKDB: async () => (await import('../databases/duckdb/database.js')).openDuckDb,
  POSTGRES: async () => (await import('../databases/postgres/database.js')).openPostgres,
  MYSQL: async () => (await import('../databases/mysql/database.js')).openMysql,
};

const openServer: OpenDatabase = async (datasource, options) => {
  const open = await openers[datasource.datasourceType]?.();
  if (open === undefined) throw new TypeError(`rollups of ${datasource.datasourceType} are not built`);
  return open(datasource as never, options);
};

const openSource = openWithReplicas(openServer, systemTiming);

/** Open only while it is read: between two periods a server has no connection of ours. */
const reading = async <R>(source: Source | null, work: (database: OpenedDatabase) => Promise<R>): Promise<R> => {
  if (source === null) throw new TypeError('a process that reads no source');
  const { datasource, limits } = source;
  const waits = { maxWaiting: 1, waitMs: limits.timeoutMs };
  const budget = createConnectionBudget({ ...waits, maxConnections: 1, maxConnectionsPerDatasource: 1 });
  const permits = budget.permitsOf(datasource.id);
  const database = await openSource(datasource, { ...limits, log, connections: 1, permits });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

type Opened = Pick<QuestionOf<'open'>, 'source'> & OpenedFiles;

let opened: Opened | undefined;

const toFiles = (): Opened => {
  if (opened === undefined) throw new TypeError('a process that has opened nothing');
  return opened;
};

const answers: { readonly [Kind in QuestionKind]: (question: QuestionOf<Kind>) => Promise<AnswerTo<Kind>> } = {
  open: async ({ folder, limits, source }) => {
    opened = { source, ...(await openFiles(folder, limits)) };
    return null;
  },
  read: ({ statement }) =>
    reading(toFiles().source, async (database) => {
      const rows: AnswerTo<'read'>[number][] = [];
      // Streamed, since the whole table is read: it may take as long as a download.
      await database.stream(statement, nobody, async (batch) => void rows.push(...batch.rows), running);
      return rows;
    }),
  write: ({ statement, batchBytes, path, erased, fileRows, ...layout }) => {
    const { source, connection } = toFiles();
    return reading(source, (database) =>
      writeFilesOf(connection, layout, {
        ...{ path, erased, fileRows },
        read: (sink) => database.stream(statement, nobody, sink, { ...running, maxBytes: batchBytes }),
      }),
    );
  },
  rewrite: (question) => rewriteFile(toFiles().connection, question),
  close: async () => {
    toFiles().close();
    opened = undefined;
    return null;
  },
};

const answer = ({ kind, question }: Asked): Promise<AnswerTo<QuestionKind>> =>
  (answers[kind] as (question: unknown) => Promise<AnswerTo<QuestionKind>>)(question);

let working: Promise<void> = Promise.resolve();

const work = async (asked: Asked): Promise<void> => {
  try {
    tell({ kind: 'answer', answer: await answer(asked) });
  } catch (cause) {
    tell({ kind: 'fault', error: toldError(cause) });
  }
};

/** Ends what runs here and at the source, and removes what DuckDB has put aside. */
const leave = async (): Promise<void> => {
  leaving.abort(new Error('the process was told to end'));
  opened?.connection.interrupt();
  await Promise.race([working, pause(leaveMs)]);
  opened?.close();
};

/** Answers the first question, and those that follow, until the parent ends the connection or is killed. */
export const begin = (first: Asked): void => {
  const take = (asked: Asked): void => {
    working = work(asked);
  };
  // An exit would wait for what runs in DuckDB.
  const end = (): void => void leave().finally(() => process.kill(process.pid, 'SIGKILL'));
  process.on('message', take);
  process.on('disconnect', end);
  if (process.connected) take(first);
  else end();
};
