/** What operators read of the running process, and who may: the same for Studio's pages and for assistants. */
import { z } from 'zod';
import type { QueryNote, ReadQueries } from '../domain/query/watch.js';
import { Refusal } from '../domain/refusal.js';
import { hasRole, type Person, type StudioRole } from '../domain/studio/person.js';
import type { Reads } from '../domain/studio/reads.js';
import type { ReadSystem, System } from './system.js';

export type ProcessParts = { readonly readSystem: ReadSystem; readonly queries: ReadQueries };

export type ProcessRead = {
  readonly name: 'read_system' | 'list_slow_queries' | 'read_plan';
  readonly title: string;
  readonly description: string;
  readonly roles: readonly StudioRole[];
  /** A read of `definitions` leaves out what it tells only people who see data. */
  readonly reads: Reads;
  readonly input: z.ZodType<Readonly<Record<string, unknown>>>;
  /** The input was checked. */
  readonly read: (parts: ProcessParts, person: Person, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
};

const operators = ['author', 'publisher', 'support', 'auditor'] as const;
/** The text of a query is part of a dashboard's definition, so only those who may read definitions see it. */
const readers = ['author', 'publisher', 'auditor'] as const;
const nothing = z.strictObject({});

/** Numbers of the gateway and of the machine. All others count queries, or measure their answers, and so tell of rows. */
const isOfNoQuery = /^guestlist_(?:gateway|proxy|request)_/;

const withoutAnswers = ({ numbers, live, ...rest }: System) => ({
  ...rest,
  numbers: numbers.filter(({ name }) => isOfNoQuery.test(name)),
  live: { ...live, cache: live.cache && { ...live.cache, bytes: null } },
});

export const systemRead: ProcessRead = {
  name: 'read_system',
  title: 'Read the state of the system',
  description:
    'Reads checks with how to mend each fault, settings without secrets, numbers, and what runs now. Without access to data: no numbers of queries and answers.',
  roles: ['support', 'auditor'],
  reads: 'definitions',
  input: nothing,
  read: async ({ readSystem }, person) => {
    const system = await readSystem();
    return person.seesData ? system : withoutAnswers(system);
  },
};

export const queriesRead: ProcessRead = {
  name: 'list_slow_queries',
  title: 'List slow and failed queries',
  description:
    'Lists the slowest and the latest failed queries of this process, by tenant. Without access to data: the slowest, failed or not, and no numbers of rows.',
  roles: operators,
  reads: 'definitions',
  input: nothing,
  read: async ({ queries }, person) => {
    const { slowest, failed, finished, clients, since } = queries.read();
    const shown = <Note extends Pick<QueryNote, 'sql'>>({ sql, ...note }: Note) =>
      hasRole(person, readers) ? { ...note, sql } : note;
    if (person.seesData) return { since, clients, slowest: slowest.map(shown), failed: failed.map(shown) };
    return {
      since,
      clients: clients.map(({ dataAppId, clientId, queries: count, ms }) => ({
        dataAppId,
        clientId,
        queries: count,
        ms,
      })),
      slowest: finished.map(({ rows: _, failure: __, ...note }) => shown(note)),
      failed: null,
    };
  },
};

export const planRead: ProcessRead = {
  name: 'read_plan',
  title: 'Explain a slow query',
  description: 'Reads how the database runs a query of the list, by its id. Without values.',
  roles: readers,
  // The database plans by what its statistics say of the rows, and estimates their number.
  reads: 'outcomes',
  input: z.strictObject({ id: z.string().min(1).max(200) }),
  read: async ({ queries }, _, { id }) => {
    const plan = await queries.plan(String(id));
    if (plan !== null) return { plan };
    throw new Refusal('NOT_FOUND', 'This query is no longer remembered. Read the list again.');
  },
};

export const processReads: readonly ProcessRead[] = [systemRead, queriesRead, planRead];
