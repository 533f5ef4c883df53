/**
 * What was prepared for a question, for whoever asks the same again: to resolve, plan, secure and compile takes longer than to find kept rows. It is kept by
 * everything that a preparation goes by: the tenant's scope, each condition and value, and the very objects of datamart, definition and database, of which
 * a change makes others.
 */
import { clientOf } from '../../domain/datamart/tenant.js';
import { createLru } from '../../platform/lru.js';
import { NotJson, toJsonValue } from '../cache/json-value.js';
import type { Database } from '../connections/database.js';
import type { AnyAsk } from './prepare.js';
import type { Prepared } from './prepared.js';

/** Of all databases together. */
const greatestMemory = 2000;
/** Questions that take more to write down are prepared each time. */
const longestKey = 4096;

export type PlanCache = {
  /** `isLasting` false: it goes by more than the question, and is not kept. */
  readonly load: (
    database: Database,
    ask: AnyAsk,
    make: () => Promise<{ readonly prepared: Prepared; readonly isLasting: boolean }>,
  ) => Promise<Prepared>;
  /** Drops those of a client of the data app, whose values they hold; null: of all its clients. */
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
    // What a comparison may move is moved before the question comes here.
    const { datasource, datamart, definition, variables = new Map(), movable: _, ...rest } = question;
    const objects = [database, datasource, datamart, definition].map(numberOf);
    const text = writeExactly([kind, objects, [...variables], rest]);
    return text === null || text.length > longestKey ? null : text;
  };
};

/** Null for what JSON would take for something else: whether it can be asked is for the preparation to say. */
const writeExactly = (value: unknown): string | null => {
  try {
    return JSON.stringify(toJsonValue(value));
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
};
