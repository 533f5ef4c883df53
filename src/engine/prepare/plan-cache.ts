/**
 * Caches prepared questions: resolving, planning, scoping and compiling takes longer than a hit of the result cache.
 * The key holds everything a preparation depends on: the tenant, every condition and value, and the identity of the
 * datamart, definition and database objects, which a change replaces.
 */
import { clientOf } from '../../model/datamart/tenant.js';
import { createLru } from '../../platform/work/lru.js';
import { NotJson, toJsonValue } from '../cache/key.js';
import type { Database } from '../connections/database.js';
import type { AnyAsk } from './prepare.js';
import type { Prepared } from './prepared.js';

/** For all databases together. */
const greatestMemory = 2000;
/** In characters. Questions with a longer key are not cached. */
const longestKey = 4096;

export type PlanCache = {
  /** `isLasting` false: the preparation depends on rows and is not cached. */
  readonly load: (
    database: Database,
    ask: AnyAsk,
    make: () => Promise<{ readonly prepared: Prepared; readonly isLasting: boolean }>,
  ) => Promise<Prepared>;
  /** Drops the client's entries, which hold its values; null: those of all clients of the data app. */
  readonly forgetClient: (dataAppId: string, clientId: string | null) => void;
};

export const createPlanCache = (): PlanCache => {
  const memory = createLru<string, Prepared>(greatestMemory);
  const keyOf = createKeys();
  return {
    load: async (database, ask, make) => {
      const key = keyOf(database, ask);
      const known = key === null ? undefined : memory.get(key);
      if (known !== undefined) return known;
      const { prepared, isLasting } = await make();
      if (isLasting && key !== null) memory.set(key, prepared);
      return prepared;
    },
    forgetClient: (dataAppId, clientId) => {
      for (const [key, { question }] of [...memory.entries()]) {
        const isClients = clientId === null || clientOf(question.tenant) === clientId;
        if (question.dataAppId === dataAppId && isClients) memory.delete(key);
      }
    },
  };
};

const createKeys = (): ((database: Database, ask: AnyAsk) => string | null) => {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  const numberOf = (one: object): number => {
    const known = numbers.get(one);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(one, last);
    return last;
  };
  return (database, { kind, question }) => {
    // Comparisons move their date ranges before the question arrives here, so `movable` is not part of the key.
    const { datasource, datamart, definition, variables = new Map(), movable: _, ...rest } = question;
    const objects = [database, datasource, datamart, definition].map(numberOf);
    const text = writeExactly([kind, objects, [...variables], rest]);
    return text === null || text.length > longestKey ? null : text;
  };
};

/**
 * Null for values that JSON would change. The preparation decides whether such a question is valid. Names are not sorted: this
 * runs for every question, and another order of names only misses.
 */
const writeExactly = (value: unknown): string | null => {
  try {
    return JSON.stringify(toJsonValue(value));
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
};
