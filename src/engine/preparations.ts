/**
 * What was prepared for a question, for whoever asks the same again: to resolve, plan, secure and compile takes longer than to find kept rows. It is kept by
 * everything that a preparation goes by: the tenant's scope, each condition and value, and the very objects of datamart, definition and database, of which
 * a change makes others.
 */
import type { Datamart } from '../domain/datamart.js';
import { createLru } from '../platform/lru.js';
import { plainly, Unkeyable } from './cache/plainly.js';
import type { Database } from './database.js';
import type { AnyAsk, Prepared } from './prepare.js';

/** Of one datamart, at one database. */
const greatestMemory = 1000;
/** Questions that take more to write down are prepared each time. */
const longestKey = 4096;

export type Preparations = {
  /** `isLasting` false: it goes by more than the question, and is not kept. */
  readonly load: (
    database: Database,
    ask: AnyAsk,
    make: () => Promise<{ readonly prepared: Prepared; readonly isLasting: boolean }>,
  ) => Promise<Prepared>;
  /** Whatever was prepared, for whomever: it holds clients' names and values. */
  readonly forget: () => void;
};

export const createPreparations = (): Preparations => {
  let memoryOf = createMemories();
  const keyOf = createKeys();
  return {
    load: async (database, ask, make) => {
      const memory = memoryOf(database, ask.question.datamart);
      const key = keyOf(ask);
      const known = key === null ? undefined : memory.get(key);
      if (known !== undefined) return known;
      const { prepared, isLasting } = await make();
      if (isLasting && key !== null) memory.set(key, prepared);
      return prepared;
    },
    forget: () => {
      memoryOf = createMemories();
    },
  };
};

type Memory = ReturnType<typeof createLru<string, Prepared>>;

/** A datamart that nothing else holds any more, since it was read anew, takes all that was prepared for it along. */
const createMemories = (): ((database: Database, datamart: Datamart) => Memory) => {
  const memories = new WeakMap<Datamart, WeakMap<Database, Memory>>();
  return (database, datamart) => {
    const ofDatamart = memories.get(datamart) ?? new WeakMap<Database, Memory>();
    memories.set(datamart, ofDatamart);
    const memory = ofDatamart.get(database) ?? createLru<string, Prepared>(greatestMemory);
    ofDatamart.set(database, memory);
    return memory;
  };
};

const createKeys = (): ((ask: AnyAsk) => string | null) => {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  const numberOf = (one: object): number => {
    const known = numbers.get(one);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(one, last);
    return last;
  };
  return ({ kind, question }) => {
    // What a comparison may move is moved before the question comes here.
    const { datasource, datamart, definition, variables = new Map(), movable: _, ...rest } = question;
    const objects = [datasource, datamart, definition].map(numberOf);
    const text = writeExactly([kind, objects, [...variables], rest]);
    return text === null || text.length > longestKey ? null : text;
  };
};

/** Null for what JSON would take for something else: whether it can be asked is for the preparation to say. */
const writeExactly = (value: unknown): string | null => {
  try {
    return JSON.stringify(plainly(value));
  } catch (error) {
    if (error instanceof Unkeyable) return null;
    throw error;
  }
};
