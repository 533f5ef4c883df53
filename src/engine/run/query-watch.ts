/**
 * Remembers what queries took, for operators: the slowest and the failed ones of a day, and how questions were answered. In
 * the memory of this process, and bounded. Statements are shown without their values. The use of tenants is counted elsewhere.
 */
import type { Clock } from '../../model/ports.js';
import type { QueryNote, ReadQueries } from '../../model/query/watch.js';
import { Refusal } from '../../model/refusal.js';
import { systemTiming, type Timing } from '../../platform/work/time.js';
import { createAnswerHistory } from './answer-history.js';

/** Who asked, and what runs at the database. */
export type Watched = {
  readonly dataAppId: string;
  readonly clientId: string | null;
  readonly datasource: string;
  readonly requestId: string | undefined;
  /** With placeholders. */
  readonly sql: string;
  readonly explain: () => Promise<string>;
};

type Owner = Pick<Watched, 'dataAppId' | 'clientId'>;

type Answering = Owner & { readonly dashboardId: string | null; readonly ran: () => boolean };

export type QueryWatch = ReadQueries & {
  /**
   * Runs the work that answers a question, and notes how long its reader waited. `ran` tells afterwards whether it cost a
   * query of its own. What its caller gave up is not noted.
   */
  readonly answer: <R>(of: Answering, work: () => Promise<R>, signal?: AbortSignal | undefined) => Promise<R>;
  /** Runs the work, and notes its duration and its failure. What its callers gave up is no failure. */
  readonly run: <R extends { readonly rows: readonly unknown[] }>(
    of: Watched,
    work: () => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  /** Forgets one client; all of the data app if `clientId` is null. */
  readonly forget: (dataAppId: string, clientId: string | null) => void;
};

const mostNotes = 100;
const dayMs = 86_400_000;

type Kept = { readonly note: QueryNote; readonly of: Watched; readonly atMs: number };
const reasonOf = (error: unknown): string => (error instanceof Refusal ? (error.reason ?? error.code) : 'UNEXPECTED');

/** The first hundred of the last day. */
const kept = (notes: readonly Kept[], nowMs: number): readonly Kept[] =>
  notes.filter(({ atMs }) => nowMs - atMs < dayMs).slice(0, mostNotes);

const createNotes = (order: (a: Kept, b: Kept) => number) => {
  let all: readonly Kept[] = [];
  return {
    read: (nowMs: number): readonly Kept[] => {
      all = kept(all, nowMs);
      return all;
    },
    add: (one: Kept): void => {
      all = kept([...all, one].sort(order), one.atMs);
    },
    forget: (isMeant: (owner: Owner) => boolean): void => {
      all = all.filter(({ of }) => !isMeant(of));
    },
  };
};

/** The slowest and the failed queries, and how one is added. */
const createBook = (clock: Clock, timing: Timing) => {
  const slowest = createNotes((a, b) => b.note.ms - a.note.ms);
  const finished = createNotes((a, b) => b.note.ms - a.note.ms);
  const failed = createNotes((a, b) => b.atMs - a.atMs);
  let last = 0;
  const add = (of: Watched, startedMs: number, rows: number, failure: string | null): void => {
    const { dataAppId, clientId, datasource, requestId, sql } = of;
    const [at, ms] = [clock.now(), Math.round(timing.nowMs() - startedMs)];
    last += 1;
    const note = { id: String(last), at, dataAppId, clientId, datasource, requestId, sql, ms, rows, failure };
    const kept = { note, of, atMs: at.getTime() };
    (failure === null ? slowest : failed).add(kept);
    finished.add(kept);
  };
  return { slowest, finished, failed, add };
};

export const createQueryWatch = (clock: Clock, timing: Timing = systemTiming): QueryWatch => {
  const since = clock.now();
  const { slowest, finished, failed, add } = createBook(clock, timing);
  const answers = createAnswerHistory(clock);
  const read = (notes: typeof slowest): readonly Kept[] => notes.read(clock.now().getTime());
  return {
    read: () => {
      const notes = (of: typeof slowest) => read(of).map(({ note }) => note);
      return {
        since,
        ...{ slowest: notes(slowest), finished: notes(finished), failed: notes(failed) },
      };
    },
    plan: async (id) => {
      const found = [...read(slowest), ...read(failed)].find(({ note }) => note.id === id);
      return found === undefined ? null : found.of.explain();
    },
    history: answers.read,
    answer: async ({ ran, ...of }, work, signal) => {
      const startedMs = timing.nowMs();
      const note = (isFailed: boolean): void =>
        answers.note({ ...of, ms: timing.nowMs() - startedMs, isKept: !ran(), isFailed });
      try {
        const answered = await work();
        note(false);
        return answered;
      } catch (error) {
        if (signal?.aborted !== true) note(true);
        throw error;
      }
    },
    run: async (of, work, signal) => {
      const startedMs = timing.nowMs();
      try {
        const result = await work();
        add(of, startedMs, result.rows.length, null);
        return result;
      } catch (error) {
        if (signal?.aborted !== true) add(of, startedMs, 0, reasonOf(error));
        throw error;
      }
    },
    forget: (dataAppId, clientId) => {
      const isMeant = (owner: Owner) =>
        owner.dataAppId === dataAppId && (clientId === null || owner.clientId === clientId);
      for (const part of [slowest, finished, failed, answers]) part.forget(isMeant);
    },
  };
};

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * A plan repeats the values that the query was given. They may be a tenant's own data, or what a restriction hides, so
 * they are left out, and so is each text between quotes.
 */
export const withoutValues = (plan: string, parameters: readonly unknown[]): string => {
  const values = new Set(
    parameters
      .flat(2)
      .map(String)
      .filter((value) => value.trim() !== ''),
  );
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  const bare = longestFirst.reduce(
    (text, value) => text.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(value)}(?![\\p{L}\\p{N}_])`, 'gu'), '…'),
    plan,
  );
  return bare.replaceAll(/'(?:[^']|'')*'/g, "'…'");
};
