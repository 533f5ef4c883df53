/**
 * The names of tenants, as the datamarts of the policy have them. Names are for people who may see data, and for sessions
 * about their own tenants; an id is shown alone while its name is not known. A slow or dead data source delays nobody by more
 * than `mostMs`, and a cached token not at all. Names must not enter tokens, logs, metrics or the keys of caches.
 */
import { z } from 'zod';
import { namesAtOnce, shownTenantName, type TenantName } from '../../model/datamart/tenant-name.js';
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import type { AnswerOf } from '../../platform/http/interface/callable.js';
import type { Call } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { systemTiming, type Timing } from '../../platform/work/time.js';
import { listTenantNames } from '../../service/datamarts/contract/tenant-names.js';
import { type AdminCommand, adminCommand, declareCommand, readBy, readers } from '../common/admin-command.js';
import type { ForgetClient } from '../common/eraser.js';
import type { Policies } from '../policy/policies.js';
import type { Policy } from '../policy/policy.js';
import { isTenantId, tenantId } from '../policy/tenant-id.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type NamedTenant = { readonly id: string; readonly name?: string };

export type TenantNames = {
  /**
   * The session's own tenants with the names that are in memory. A name that the policy hides or masks from anybody is left
   * out. Missing ones are read in the background.
   */
  readonly ofSession: (policy: Policy, ids: readonly string[]) => readonly NamedTenant[];
  /** Reads the missing names of these tenants. Resolves after `waitMs` at the latest; the work goes on. */
  readonly load: (policy: Policy, ids: readonly string[], waitMs?: number) => Promise<void>;
  readonly forget: ForgetClient;
  readonly command: AdminCommand;
};

type Options = {
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'supports'>;
  readonly policies: Policies;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly timing?: Timing;
};

/** How long a list waits for names. */
const mostMs = 2_000;
/** A name is read again after this time. */
const freshMs = 600_000;
/** A tenant without a name is looked for again after this time, and so is a data source that was away. */
const missingMs = 30_000;
const mostNames = 50_000;
const idsOfCommand = 500;

/** `name` null: there is none. `column` is the one that it was read from. */
type Known = { readonly name: string | null; readonly column: string | null; readonly untilMs: number };

type Answered = AnswerOf<typeof listTenantNames>['data'];
const nothing: Answered = { column: null, clientIds: [], names: [], isWhole: false };

/** The datamarts of the policy, the policy's own first. */
const datamartsOf = ({ datamart, templates }: Policy): readonly string[] => [
  ...new Set([datamart, ...[...templates.values()].map(({ accessSettings }) => accessSettings.datamartName)]),
];

/** Whether a restriction of the policy, or of a tenant's overrides, names the column. */
const isRuled = ({ names }: Policy, column: string | null): boolean =>
  names.some(({ kind, name }) => kind === 'ruledColumn' && name === column);

const word = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);

export const tenantNamesCommand = declareCommand(
  'tenants-names',
  z
    .strictObject({
      clientIds: z.array(tenantId).min(1).max(idsOfCommand).optional(),
      words: z.array(word).min(1).max(8).optional().describe('Tenants whose name contains each of these.'),
    })
    .refine(({ clientIds, words }) => (clientIds === undefined) !== (words === undefined), {
      message: 'send either clientIds or words',
    }),
  z.object({ names: z.array(z.object({ clientId: z.string(), name: z.string() })) }),
  { ...readBy(...readers, 'policyAdmin'), reads: 'rows' },
);

const slicesOf = (ids: readonly string[]): readonly string[][] =>
  Array.from({ length: Math.ceil(ids.length / namesAtOnce) }, (_, at) =>
    ids.slice(at * namesAtOnce, (at + 1) * namesAtOnce),
  );

type Wanted = { readonly clientIds: string[] } | { readonly words: string[] };
type Ask = (datamartName: string, wanted: Wanted) => Promise<Answered>;

/** Asks the service about one datamart. One that did not answer is not asked again for a while. */
const createAsk = ({ upstream, capabilities, clock, log }: Options): Ask => {
  const awayUntilMs = new Map<string, number>();
  return async (datamartName, wanted) => {
    const nowMs = clock.now().getTime();
    if ((awayUntilMs.get(datamartName) ?? 0) > nowMs) return nothing;
    let answered = nothing;
    try {
      if (!(await capabilities.supports('list-tenant-names'))) return nothing;
      answered = (await upstream(listTenantNames, { datamartName, ...wanted })).data;
    } catch (err) {
      log.warn({ event: 'tenant_names.failed', datamart: datamartName, err }, 'failed to read names of tenants');
    }
    if (!answered.isWhole) awayUntilMs.set(datamartName, nowMs + missingMs);
    return answered;
  };
};

/** What is known of each tenant. */
const createMemory = (clock: Clock) => {
  const known = createLru<string, Known>(mostNames);
  const nowMs = (): number => clock.now().getTime();
  const set = (id: string, name: string | null, column: string | null): void => {
    known.set(id, { name, column, untilMs: nowMs() + (name === null ? missingMs : freshMs) });
  };
  return {
    find: (id: string): Known | undefined => known.get(id),
    isMissing: (id: string): boolean => (known.get(id)?.untilMs ?? 0) <= nowMs(),
    /** What was known of a tenant stays while its data source is away. */
    learn: (ids: readonly string[], { column, names, isWhole }: Answered): void => {
      const found = new Map(names.map(({ clientId, name }) => [clientId, shownTenantName(name) ?? null]));
      for (const id of ids) {
        const name = found.get(id) ?? null;
        if (name !== null || isWhole || !known.has(id)) set(id, name, column);
      }
    },
    forget: (id: string): number => (known.delete(id) ? 1 : 0),
    clear: (): void => known.clear(),
  };
};

/** Waits for the work, and no longer than `waitMs`. The work goes on. */
const inTime = async <T>(timing: Timing, work: Promise<T>, otherwise: T, waitMs = mostMs): Promise<T> => {
  let cancel = (): void => {};
  const late = new Promise<T>((resolve) => {
    cancel = timing.after(waitMs, () => resolve(otherwise));
  });
  return Promise.race([handled(work), late]).finally(() => cancel());
};

/** Finds tenants by words in their names. */
const findByWords = async (ask: Ask, policy: Policy, words: string[]): Promise<readonly TenantName[]> => {
  const found = new Map<string, string>();
  for (const datamart of datamartsOf(policy)) {
    for (const { clientId, name } of (await ask(datamart, { words })).names) {
      const shown = shownTenantName(name);
      if (shown !== undefined && isTenantId(clientId) && !found.has(clientId)) found.set(clientId, shown);
    }
  }
  return [...found].map(([clientId, name]) => ({ clientId, name }));
};

export const createTenantNames = (options: Options): TenantNames => {
  const { policies, clock, timing = systemTiming } = options;
  const memory = createMemory(clock);
  const flight = createSingleFlight<void>();
  const ask = createAsk(options);
  policies.subscribe({ changed: async () => memory.clear() });
  const read = async (policy: Policy, ids: readonly string[]): Promise<void> => {
    let missing = ids;
    for (const datamart of datamartsOf(policy)) {
      for (const slice of slicesOf(missing)) memory.learn(slice, await ask(datamart, { clientIds: slice }));
      missing = missing.filter((id) => (memory.find(id)?.name ?? null) === null);
    }
  };
  const load: TenantNames['load'] = async (policy, ids, waitMs) => {
    const missing = [...new Set(ids)].filter(memory.isMissing).toSorted();
    if (missing.length === 0) return;
    await inTime(
      timing,
      flight(JSON.stringify(missing), () => read(policy, missing)),
      undefined,
      waitMs,
    );
  };
  const listNames = async (policy: Policy, ids: readonly string[]): Promise<readonly TenantName[]> => {
    await load(policy, ids);
    return ids.flatMap((clientId) => {
      const name = memory.find(clientId)?.name ?? null;
      return name === null ? [] : [{ clientId, name }];
    });
  };
  return {
    ofSession: (policy, ids) => {
      if (ids.some(memory.isMissing)) handled(load(policy, ids));
      return ids.map((id) => {
        const { name = null, column = null } = memory.find(id) ?? {};
        return name === null || isRuled(policy, column) ? { id } : { id, name };
      });
    },
    load,
    forget: memory.forget,
    command: adminCommand(tenantNamesCommand, async ({ clientIds, words = [] }) => {
      const policy = policies.current();
      const names =
        clientIds === undefined
          ? await inTime(timing, findByWords(ask, policy, words), [])
          : await listNames(policy, clientIds);
      return { names: [...names] };
    }),
  };
};
