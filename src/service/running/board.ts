/**
 * Tells the other processes what this one does, and ends here what operators want ended. A process writes once a second
 * while something runs in it, whatever the number of queries, and otherwise now and then to say that it is there. Who reads
 * takes this process from its memory, and the others as they wrote last.
 */
import type { Log } from '../../model/log-events.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { ReadLive } from '../../model/query/live.js';
import type { EndOutcome, RunningProcess, RunningWork, WorkRef } from '../../model/query/running.js';
import type { Store } from '../store/store.js';

/** How often a process looks at what runs in it. */
export const beatMs = 1_000;
const idleBeatMs = 10_000;
/** A process that writes each second counts as gone after this time, and another one after three times its pause. */
const silenceMs = { busy: 5_000, idle: 3 * idleBeatMs };
const purgeMs = 60_000;
/** More would make each write large. The oldest are what operators look for. */
const mostWorks = 200;
const mostSources = 50;
const pollMs = 200;
const mostPolls = 25;

export type BoardParts = {
  readonly store: { readonly running: Omit<Store['running'], 'isThere'> };
  readonly running: Pick<RunningWork, 'list' | 'end'>;
  readonly live: ReadLive;
  /** The common clock of all processes. */
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly self: Pick<RunningProcess, 'name' | 'version'>;
  /** Whether other processes share the store. If none does, nothing is written. */
  readonly isShared: boolean;
  readonly pause: (ms: number) => Promise<void>;
};

export type Board = {
  /** The moment by the common clock, and the processes: this one first. */
  readonly read: () => Promise<{ readonly now: Date; readonly processes: readonly RunningProcess[] }>;
  readonly end: (ref: WorkRef) => Promise<EndOutcome>;
  /** Writes, if there is something to say, and ends what is wanted. Never rejects. */
  readonly beat: () => Promise<void>;
  /** Says that this process stops. Never rejects. */
  readonly leave: () => Promise<void>;
};

const isBusy = ({ works }: RunningProcess): boolean => works.length > 0;

/** Reads what runs in this process. */
const createReadSelf = ({ running, live, clock, ids, self }: BoardParts) => {
  const instance = ids.uuid();
  const startedAt = clock.now().toISOString();
  return (): RunningProcess => {
    const all = running.list();
    const { sources, cache } = live();
    const works = all.slice(0, mostWorks);
    const shown = sources.slice(0, mostSources);
    return { ...self, instance, startedAt, works, others: all.length - works.length, sources: shown, cache };
  };
};

const createBeat = (parts: BoardParts, readSelf: () => RunningProcess, endHere: (ref: WorkRef) => EndOutcome) => {
  const { store, clock, log } = parts;
  let wroteAtMs = Number.NEGATIVE_INFINITY;
  let purgedAtMs = Number.NEGATIVE_INFINITY;
  let wasBusy = false;
  const write = async (own: RunningProcess, nowMs: number): Promise<void> => {
    const silentAt = new Date(nowMs + (isBusy(own) ? silenceMs.busy : silenceMs.idle));
    for (const wanted of await store.running.publish(own, silentAt))
      await store.running.answerEnd(wanted.id, endHere(wanted));
    [wroteAtMs, wasBusy] = [nowMs, isBusy(own)];
    if (nowMs - purgedAtMs < purgeMs) return;
    await store.running.purge(new Date(nowMs - purgeMs));
    purgedAtMs = nowMs;
  };
  return async (): Promise<void> => {
    const own = readSelf();
    const nowMs = clock.now().getTime();
    // After the last work, one more write says that nothing runs.
    if (!isBusy(own) && !wasBusy && nowMs - wroteAtMs < idleBeatMs) return;
    try {
      await write(own, nowMs);
    } catch (err) {
      log.warn({ event: 'running.write_failed', err }, 'failed to tell the other processes what runs here; retrying');
    }
  };
};

export const createBoard = (parts: BoardParts): Board => {
  const { store, running, clock, ids, log, isShared, pause } = parts;
  const readSelf = createReadSelf(parts);
  const { instance } = readSelf();
  const endHere = (ref: WorkRef): EndOutcome => {
    if (!running.end(ref)) return 'over';
    log.info({ event: 'work.ended', kind: ref.kind, number: ref.number }, 'an operator ended a work');
    return 'ended';
  };
  const listOthers = async (): Promise<readonly RunningProcess[]> =>
    isShared ? (await store.running.list(clock.now())).filter((one) => one.instance !== instance) : [];
  /** The other process sees the order with its next write. */
  const endThere = async (ref: WorkRef): Promise<EndOutcome> => {
    if (!(await listOthers()).some((one) => one.instance === ref.instance)) return 'over';
    const id = ids.uuid();
    await store.running.askEnd({ id, ...ref }, clock.now());
    for (let polls = 0; polls < mostPolls; polls += 1) {
      const outcome = await store.running.findEnd(id);
      if (outcome !== null) return outcome;
      await pause(pollMs);
    }
    return 'unanswered';
  };
  return {
    read: async () => {
      const others = await listOthers();
      return { now: clock.now(), processes: [readSelf(), ...others] };
    },
    end: async (ref) => (ref.instance === instance ? endHere(ref) : endThere(ref)),
    beat: isShared ? createBeat(parts, readSelf, endHere) : async () => {},
    leave: async () => {
      if (!isShared) return;
      await store.running
        .leave(instance)
        .catch((err: unknown) =>
          log.warn({ event: 'running.write_failed', err }, 'failed to say that this process stops'),
        );
    },
  };
};
