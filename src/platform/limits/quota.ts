/**
 * Keeps each tenant within its quota, over all replicas: what is stored is read again the sooner, the less is left. Between
 * two reads, a process knows its own counts at once, and those of the others from the next read on.
 */
import type { Quota, QuotaName } from '../../model/quota.js';
import { Refusal } from '../../model/refusal.js';
import type { HeldName, KeepQuota, UsageCounts, UsageName, UsedBy } from '../../model/usage.js';
import { createLru } from '../work/lru.js';
import { createSingleFlight } from '../work/single-flight.js';

const secondMs = 1000;
/** What a process counts is stored after this time, unless its answer waits for the store. */
const storedAfterMs = secondMs;
const longestReadMs = 60 * secondMs;
const dayMs = 86_400_000;
const mostTenants = 20_000;
const mostSeats = 100_000;

const partOf: Readonly<Record<HeldName, QuotaName>> = { sourceQueries: 'queriesPerDay', exports: 'exportsPerDay' };
const reasons = { sourceQueries: 'quota-queries', exports: 'quota-exports' } as const;
const heldNames = ['sourceQueries', 'exports'] as const satisfies readonly HeldName[];
const words = { sourceQueries: 'questions', exports: 'files' } as const;

type Held = { -readonly [Name in HeldName]: number };
const nothing = (): Held => ({ sourceQueries: 0, exports: 0 });

/**
 * What a tenant has used of one day. `added`: what this process has counted since the read. `held`: what it will count.
 * `near`: from there on, the limit is near.
 */
type Day = {
  readonly start: number;
  readAtMs: number;
  read: Held;
  added: Held;
  readonly held: Held;
  readonly near: Held;
};

const keyOf = ({ dataAppId, clientId }: UsedBy): string => JSON.stringify([dataAppId, clientId]);

const userOf = (by: UsedBy): string => JSON.stringify([keyOf(by), by.userIdentifier]);

const answerNames = ['sourceQueries', 'keptAnswers', 'failedAnswers'] as const satisfies readonly UsageName[];
const isAnswer = (counts: Partial<UsageCounts>): boolean => answerNames.some((name) => (counts[name] ?? 0) > 0);

const dayOf = (nowMs: number): number => nowMs - (nowMs % dayMs);

const monthOf = (now: Date, later = 0): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later));

const written = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/**
 * The nearer the limit, the sooner: after a second where it is near, and after a minute where nothing is used, with the
 * time after which the others store what they count.
 */
const isFresh = ({ readAtMs }: Day, used: number, limit: number, nowMs: number): boolean =>
  nowMs - readAtMs < Math.max(secondMs, longestReadMs * (1 - (used >= limit ? 1 : used / limit)) - storedAfterMs);

/** From this share of the limit on, it is read again each second, so the others must store what they count at once. */
const nearShare = 1 - (secondMs + storedAfterMs) / longestReadMs;

const usedIn = ({ read, added, held }: Day, name: HeldName): number => read[name] + added[name] + held[name];

type Deps = Parameters<KeepQuota>[0];

const reached = (name: HeldName, limit: number, day: Day): Refusal =>
  new Refusal(
    'QUOTA_REACHED',
    `Your organization has used its ${limit} ${words[name]} of today. More are possible from ${written(new Date(day.start + dayMs))} on.`,
    { reason: reasons[name] },
  );

const createDays = ({ usage, clock, flush }: Deps) => {
  const days = createLru<string, Day>(mostTenants);
  const reading = createSingleFlight<void>();
  const nowMs = (): number => clock.now().getTime();
  const dayFor = (by: UsedBy): Day => {
    const start = dayOf(nowMs());
    const found = days.get(keyOf(by));
    if (found?.start === start) return found;
    const near = { sourceQueries: Number.POSITIVE_INFINITY, exports: Number.POSITIVE_INFINITY };
    const counts = { read: nothing(), added: nothing(), held: nothing(), near };
    const day = { start, readAtMs: Number.NEGATIVE_INFINITY, ...counts };
    days.set(keyOf(by), day);
    return day;
  };
  const read = (by: UsedBy, day: Day): Promise<void> =>
    reading(`${keyOf(by)}${day.start}`, async () => {
      const atMs = nowMs();
      await flush();
      day.added = nothing();
      day.read = await usage.spent({ ...by, from: new Date(day.start), to: new Date(day.start + dayMs) });
      day.readAtMs = atMs;
    });
  return {
    /** Whether the limit of what was counted is near. */
    note: (by: UsedBy, counts: Partial<UsageCounts>): boolean => {
      const day = days.get(keyOf(by));
      if (day?.start !== dayOf(nowMs())) return false;
      for (const name of heldNames) day.added[name] += counts[name] ?? 0;
      return heldNames.some((name) => counts[name] !== undefined && usedIn(day, name) >= day.near[name]);
    },
    hold: async (by: UsedBy, name: HeldName, limit: number): Promise<() => void> => {
      const day = dayFor(by);
      day.near[name] = limit * nearShare;
      const isFull = (): boolean => usedIn(day, name) >= limit;
      if (!isFresh(day, usedIn(day, name), limit, nowMs())) await read(by, day);
      // The others' counts are in what was read. Those of this process were added to it, and may be in both.
      else if (isFull() && day.read[name] < limit) await read(by, day);
      if (isFull()) throw reached(name, limit, day);
      day.held[name] += 1;
      return () => {
        day.held[name] -= 1;
      };
    },
  };
};

const createSeats = ({ usage, clock, personOf }: Deps) => {
  /** Who has a seat. One that another process gave is found in the store. */
  const seated = createLru<string, true>(mostSeats);
  /** Who got a seat here in this month, by tenant: the store knows of them once they are counted. */
  const given = createLru<string, Set<string>>(mostTenants);
  const refused = createLru<string, number>(mostTenants);
  /** Who got a seat here of which the store has nothing yet. */
  const untold = createLru<string, true>(mostSeats);
  const asking = createSingleFlight<boolean>();
  const ask = async (by: UsedBy, month: Date, seats: number): Promise<boolean> => {
    const tenant = `${keyOf(by)}${month.getTime()}`;
    const here = given.get(tenant) ?? new Set<string>();
    given.set(tenant, here);
    const person = personOf(by);
    const others = await usage.seats({ ...by, from: month, person, without: [...here] });
    if (!others.hasSeat && !here.has(person) && others.taken + here.size >= seats) return false;
    if (!others.hasSeat) {
      here.add(person);
      untold.set(userOf(by), true);
    }
    return true;
  };
  /** Whether it is the first that is counted for a seat. */
  const note = (by: UsedBy): boolean => untold.size > 0 && untold.delete(userOf(by));
  const take = async (by: UsedBy, seats: number): Promise<void> => {
    const now = clock.now();
    const month = monthOf(now);
    const key = `${userOf(by)}${month.getTime()}`;
    if (seated.has(key)) return;
    const full = (): Refusal =>
      new Refusal(
        'QUOTA_REACHED',
        `All ${seats} seats of your organization are taken this month. More are possible from ${written(monthOf(now, 1))} on.`,
        { reason: 'quota-seats' },
      );
    if (now.getTime() - (refused.get(key) ?? Number.NEGATIVE_INFINITY) < 10 * secondMs) throw full();
    if (await asking(key, () => ask(by, month, seats))) {
      seated.set(key, true);
      return;
    }
    refused.set(key, now.getTime());
    throw full();
  };
  return { note, take };
};

export const keepQuota: KeepQuota = (deps) => {
  const days = createDays(deps);
  const seated = createSeats(deps);
  return {
    note: (by, counts) => {
      const isFirst = isAnswer(counts) && seated.note(by);
      return days.note(by, counts) || isFirst;
    },
    hold: async (by, name, quota: Quota) => {
      const limit = quota[partOf[name]];
      return limit === undefined ? () => {} : days.hold(by, name, limit);
    },
    seat: async (by, { seats }) => {
      if (seats !== undefined && by.userIdentifier !== null) await seated.take(by, seats);
    },
  };
};
