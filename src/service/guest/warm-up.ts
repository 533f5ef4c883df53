/**
 * Asks again what guests asked lately, so that the answers are kept when the next one asks: after a rollup's refresh,
 * after a roll-out, and at a time of day. Each question is asked by the token that asked it, which must still be stored:
 * what is revoked or erased asks nothing. Nobody receives the answers; each is kept under what that token may see.
 */
import { canonicalJson } from '../../model/canonical-json.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestQuery } from '../../model/guest/view.js';
import type { Ran, Seen, Warmed, WarmUp, WarmUpSettings } from '../../model/guest/warm-up.js';
import type { Clock, Digest } from '../../model/ports.js';
import type { RequestSignal } from '../../model/query/engine.js';
import { type Calendar, nextMoment } from '../../model/schedule/recurrence.js';
import { anyOf } from '../../model/signals.js';
import type { CountUse, RequestUse } from '../../model/usage.js';
import type { Store } from '../store/store.js';

type Deps = {
  readonly store: Pick<Store, 'guestTokens'>;
  readonly clock: Clock;
  readonly calendar: Calendar;
  readonly digest: Digest;
  /** Answers as for a guest, but never by an older answer. */
  readonly ask: (caller: GuestCaller, query: GuestQuery, signal: RequestSignal) => Promise<unknown>;
  readonly use: Pick<CountUse, 'add' | 'stored'>;
};

type Entry = {
  readonly key: string;
  readonly tokenId: string;
  readonly dataAppId: string;
  readonly clientId: string;
  readonly query: GuestQuery;
  readonly datamartId: string;
  readonly dashboardId: string;
};

/** No user asked, so it is counted apart, and no quota limits it. */
const useOf = ({ add, stored }: Deps['use'], { dataAppId, clientId }: Entry): RequestUse => ({
  add: (on, { sourceQueries = 0, ms = 0 }) =>
    add({ dataAppId, clientId, userIdentifier: null, ...on }, { warmUpQueries: sourceQueries, warmUpMs: ms }),
  stored,
  hold: async () => () => {},
  seat: async () => {},
});

/** So many times the questions of one run are remembered, since each reason has questions of its own. */
const rememberedPerQuestion = 4;
/** The others that a datasource serves go first: few questions of a run are asked at a time. */
const atOnce = 2;

/** The same for all tokens with the same rights. */
const keyOf = (digest: Digest, { caller: { grant }, query }: Seen): string => {
  const { id: _, createdAt: __, expiresAt: ___, epoch: ____, revision: _____, ...rights } = grant;
  const { language: ______, ...asked } = query;
  return digest(canonicalJson(JSON.parse(JSON.stringify([rights, asked]))));
};

const chosen = (
  entries: readonly Entry[],
  wanted: readonly Warmed[],
  { questions, questionsPerTenant }: WarmUpSettings,
): readonly Entry[] => {
  const perTenant = new Map<string, number>();
  const isWanted = (entry: Entry): boolean =>
    wanted.some(
      ({ datamartId, dashboardId }) =>
        (datamartId === undefined || datamartId === entry.datamartId) &&
        (dashboardId === undefined || dashboardId === entry.dashboardId),
    );
  const isWithin = ({ dataAppId, clientId }: Entry): boolean => {
    const key = JSON.stringify([dataAppId, clientId]);
    const count = (perTenant.get(key) ?? 0) + 1;
    perTenant.set(key, count);
    return count <= questionsPerTenant;
  };
  return entries.filter((entry) => isWanted(entry) && isWithin(entry)).slice(0, questions);
};

/** Whether the time of day has come since the last look. */
const createTimes = ({ clock, calendar }: Pick<Deps, 'clock' | 'calendar'>, { at, timezone }: WarmUpSettings) => {
  let last = clock.now();
  return (): boolean => {
    const now = clock.now();
    const next = at === null ? null : nextMoment({ every: 'day', at, timezone }, calendar, last);
    last = now;
    return next !== null && next.getTime() <= now.getTime();
  };
};

/** Runs the work for all items, few at once. A failure is counted, and the others go on. */
const runAll = async <Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<boolean>,
): Promise<Ran> => {
  const waiting = [...items];
  let ran: Ran = { asked: 0, failed: 0 };
  const one = async (item: Item): Promise<void> => {
    try {
      if (await work(item)) ran = { ...ran, asked: ran.asked + 1 };
    } catch (err) {
      ran = { ...ran, failed: ran.failed + 1, err };
    }
  };
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) await one(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ran;
};

export const createWarmUp = (deps: Deps, settings: WarmUpSettings): WarmUp => {
  const { store, digest, ask, use } = deps;
  /** The question that was asked last is the last; the first ones are forgotten. */
  const entries = new Map<string, Entry>();
  const remember = (entry: Entry): void => {
    entries.delete(entry.key);
    entries.set(entry.key, entry);
    const [first] = entries.keys();
    if (entries.size > settings.questions * rememberedPerQuestion && first !== undefined) entries.delete(first);
  };
  const isTime = createTimes(deps, settings);
  let wanted: Warmed[] = [];
  /** False: the token is gone, and so is the question. */
  const askAgain = async (entry: Entry, signal: AbortSignal): Promise<boolean> => {
    const { key, tokenId, query } = entry;
    const grant = await store.guestTokens.findById(tokenId);
    if (grant === undefined) {
      entries.delete(key);
      return false;
    }
    await ask({ kind: 'guest', grant }, query, Object.assign(anyOf(signal), { use: useOf(use, entry) }));
    return true;
  };
  return {
    seen: (one) => {
      const { caller, query, datamartId, dashboardId } = one;
      // A view in Studio has a caller that no guest is.
      if (settings.questions === 0 || caller.isView === true || caller.author !== undefined) return;
      const { id: tokenId, dataAppId, clientId } = caller.grant;
      const key = keyOf(digest, one);
      remember({ key, tokenId, dataAppId, clientId, query, datamartId, dashboardId });
    },
    want: (warmed) => void wanted.push(warmed),
    forget: (dataAppId, clientId) => {
      for (const entry of [...entries.values()])
        if (entry.dataAppId === dataAppId && (clientId === null || entry.clientId === clientId))
          entries.delete(entry.key);
    },
    run: (signal) => {
      const reasons = isTime() ? [...wanted, {}] : wanted;
      wanted = [];
      const latest = [...entries.values()].toReversed();
      return runAll(chosen(latest, reasons, settings), signal, (entry) => askAgain(entry, signal));
    },
  };
};
