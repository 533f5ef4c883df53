/** Commands that read the running process. Studio's pages and assistants run them; the command line does not. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  declareCommand,
  noInput,
  type RunBy,
  readBy,
  readers,
  written,
} from '../gateway/common/admin-command.js';
import { hasRole } from '../model/person.js';
import type { AnswerHistory, DashboardFigures, QueryNote, ReadQueries, TenantFigures } from '../model/query/watch.js';
import { Refusal } from '../model/refusal.js';
import type { ReadSigningKeys, SigningKeys } from '../model/signing-keys.js';

export type SystemNumber = { readonly name: string; readonly help: string; readonly value: number };

type System = {
  readonly version: string;
  readonly checks: readonly {
    readonly name: string;
    readonly isGood: boolean;
    readonly fix: string | null;
    /** How long the check took. Null: it has not run. */
    readonly tookMs: number | null;
  }[];
  readonly settings: unknown;
  readonly numbers: readonly SystemNumber[];
};

export type ReadSystem = () => Promise<System>;

const hidden = '•••';

/** The user's password in the address of a server, or a whole text that is a secret by its field. */
const withoutPassword = (text: string): string => text.replaceAll(/(\/\/[^/@\s:]*):[^/@\s]*@/g, `$1:${hidden}@`);

const isSecretField = (name: string): boolean => /secret|password|token$|apiKey|privateKey/i.test(name);

/** The settings without passwords. Secrets come from the environment and are no settings, so this is a second wall. */
export const withoutSecrets = (value: unknown, field = ''): unknown => {
  if (typeof value === 'string') return isSecretField(field) ? hidden : withoutPassword(value);
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutSecrets(one, name)]));
};

/** The text of a query is part of a dashboard's definition, so only those who may read definitions see it. */
const textReaders = ['author', 'publisher', 'auditor'] as const;

/** Numbers of the gateway and of the machine. All others count queries, or measure their answers, and so tell of rows. */
const isOfNoQuery = /^guestlist_(?:gateway|proxy|request)_/;

const withoutAnswers = ({ numbers, ...rest }: System): System => ({
  ...rest,
  numbers: numbers.filter(({ name }) => isOfNoQuery.test(name)),
});

export const readSystemCommand = declareCommand(
  'read-system',
  noInput,
  written<System>(),
  readBy('support', 'auditor'),
  {
    title: 'Read the state of the system',
    description:
      'Reads checks with how to mend each fault, settings without secrets, and numbers. Without access to data: no numbers of queries and answers.',
  },
);

type Named<Figures> = Omit<Figures, 'dataAppId'> & {
  /** Null: the data app was deleted. */
  readonly dataAppName: string | null;
};

/** Of one tenant of a data app. `clientId`: null for a data app without tenants. */
export type TenantTime = { readonly dataAppId: string; readonly clientId: string | null; readonly ms: number };

/** Without `sql` for those who may not read definitions, and without what rows tell for those who may not see data. */
type SlowQueries = {
  readonly since: Date;
  /** The time of databases in this month, as all processes counted it. Null: not asked for. */
  readonly times: readonly Named<TenantTime>[] | null;
  readonly slowest: readonly (Partial<QueryNote> & Omit<QueryNote, 'rows' | 'failure' | 'sql'>)[];
  /** Null for those who may not see data. */
  readonly failed: SlowQueries['slowest'] | null;
};

export const listSlowQueries = declareCommand(
  'list-slow-queries',
  z.strictObject({
    withTimes: z.boolean().default(false).describe('Also the time of databases of each tenant in this month.'),
  }),
  written<SlowQueries>(),
  readBy(...readers),
  {
    title: 'List slow and failed queries',
    description:
      'Lists the slowest and the latest failed queries of this process, by tenant. Without access to data: the slowest, failed or not, each once, and no numbers of rows.',
  },
);

type NamedHistory = Omit<AnswerHistory, 'tenants' | 'dashboards'> & {
  readonly tenants: readonly Named<TenantFigures>[];
  readonly dashboards: readonly Named<DashboardFigures>[];
};

/** How answers ended tells of rows, so it is for those who may see data. */
export const readAnswerHistory = declareCommand(
  'answer-history',
  z.strictObject({
    dataAppName: z.string().min(1).max(255).optional().describe('A data app. Left out: all.'),
    clientId: z.string().min(1).max(255).optional().describe('A tenant. Left out: all.'),
    dashboardId: z.string().min(1).max(255).optional().describe('A dashboard of a tenant. Left out: all.'),
  }),
  written<NamedHistory>(),
  { ...readBy(...readers), reads: 'outcomes' },
  {
    title: 'Read how questions were answered',
    description:
      'Reads how long answers took in the last day, what failed and what was kept, over time and by tenant and dashboard, as this process counted it.',
  },
);

export const readPlan = declareCommand(
  'read-plan',
  z.strictObject({ id: z.string().min(1).max(200) }),
  z.object({ plan: z.string() }),
  // The database plans by what its statistics say of the rows, and estimates their number.
  { ...readBy(...textReaders), reads: 'outcomes' },
  {
    title: 'Explain a slow query',
    description: 'Reads how the database runs a query of the list, by its id. Without values.',
  },
);

// They are of the configuration, so nothing of them is changed here.
export const listSigningKeys = declareCommand('signing-keys', noInput, written<SigningKeys>(), readBy('auditor'));

/** The slowest of each statement. A query that fails is not kept, and so runs again: how often one ran tells its outcome. */
const eachOnce = (notes: readonly QueryNote[]): readonly QueryNote[] => {
  const seen = new Set<string>();
  return notes.filter(({ dataAppId, clientId, datasource, sql }) => {
    const key = JSON.stringify([dataAppId, clientId, datasource, sql]);
    return !seen.has(key) && seen.add(key);
  });
};

const named = <Of extends { readonly dataAppId: string }>(
  names: ReadonlyMap<string, string>,
  { dataAppId, ...rest }: Of,
): Named<Of> => ({ dataAppName: names.get(dataAppId) ?? null, ...rest });

const timesOf = async ({ times, dataApps }: ProcessParts['use']): Promise<readonly Named<TenantTime>[]> => {
  const names = await dataApps();
  return (await times()).map((of) => named(names, of));
};

const slowQueries = async (
  { queries, use }: Pick<ProcessParts, 'queries' | 'use'>,
  { withTimes }: z.output<typeof listSlowQueries.input>,
  by: RunBy,
) => {
  const { slowest, failed, finished, since } = queries.read();
  const times = withTimes ? await timesOf(use) : null;
  const shown = <Note extends Pick<QueryNote, 'sql'>>({ sql, ...note }: Note) =>
    hasRole(by, textReaders) ? { ...note, sql } : note;
  if (by.seesData) return { since, times, slowest: slowest.map(shown), failed: failed.map(shown) };
  return {
    since,
    times,
    slowest: eachOnce(finished).map(({ rows: _, failure: __, ...note }) => shown(note)),
    failed: null,
  };
};

type AskedHistory = z.output<typeof readAnswerHistory.input>;

const historyOf = async (
  { queries, use }: Pick<ProcessParts, 'queries' | 'use'>,
  { dataAppName, ...of }: AskedHistory,
): Promise<NamedHistory> => {
  const names = await use.dataApps();
  const dataAppId = dataAppName === undefined ? undefined : [...names].find(([, name]) => name === dataAppName)?.[0];
  if (dataAppName !== undefined && dataAppId === undefined)
    throw new Refusal('NOT_FOUND', `There is no data app ${JSON.stringify(dataAppName)}.`);
  const history = queries.history({ ...of, dataAppId });
  return {
    ...history,
    tenants: history.tenants.map((of) => named(names, of)),
    dashboards: history.dashboards.map((of) => named(names, of)),
  };
};

export type ProcessParts = {
  readonly readSystem: ReadSystem;
  readonly queries: ReadQueries;
  /** What the service has counted. */
  readonly use: {
    readonly times: () => Promise<readonly TenantTime[]>;
    /** The names of data apps by their ids. */
    readonly dataApps: () => Promise<ReadonlyMap<string, string>>;
  };
  readonly readSigningKeys: ReadSigningKeys;
};

export const processCommands = ({
  readSystem,
  queries,
  use,
  readSigningKeys,
}: ProcessParts): readonly AdminCommand[] => [
  adminCommand(readSystemCommand, async (_, { seesData }) => {
    const system = await readSystem();
    return seesData ? system : withoutAnswers(system);
  }),
  adminCommand(listSigningKeys, async () => readSigningKeys()),
  adminCommand(listSlowQueries, async (asked, by) => slowQueries({ queries, use }, asked, by)),
  adminCommand(readAnswerHistory, async (of) => historyOf({ queries, use }, of)),
  adminCommand(readPlan, async ({ id }) => {
    const plan = await queries.plan(id);
    if (plan !== null) return { plan };
    throw new Refusal('NOT_FOUND', 'This query is no longer remembered. Read the list again.');
  }),
];
