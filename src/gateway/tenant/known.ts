/**
 * Which tenants are served under a policy with `knownTenants: true`: those that the table of tenants has a row of. Asked
 * before a token is minted and before a dashboard is made, and not for a cached token. Must not serve a tenant that it
 * cannot ask about, except one that was known a while ago.
 */
import { basename } from 'node:path';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { listTenantNames } from '../../service/datamarts/contract/tenant-names.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import { undecided } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import { PolicyFaults } from '../policy/source.js';
import type { SourceNames } from '../policy/source-names.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { isUnreachable } from '../upstream/unavailable.js';

/**
 * Resolves if the policy asks for no table of tenants, or the table of one of the sources has the tenant. Rejects with
 * NO_TENANT, UPSTREAM_UNAVAILABLE if that cannot be read now, or POLICY_UNDECIDED if it never can.
 */
export type AssertKnown = (policy: Policy, clientId: string, sources: readonly SourceNames[]) => Promise<void>;

export type KnownTenants = { readonly assert: AssertKnown; readonly forget: ForgetClient };

type Options = {
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'requireCapability'>;
  readonly clock: Clock;
};

/** A tenant that has a row is looked for again after this time. */
const knownMs = 60_000;
/** A tenant without a row is looked for again after this time. */
export const unknownMs = 5_000;
/** For how long a known tenant is served while its table cannot be read. */
const outageMs = 3_600_000;
/** A table that could not be read is read again after this time. */
const restMs = 5_000;
/** The time that a data source has. A login waits for it. */
const timeoutMs = 5_000;
const mostTenants = 100_000;
const mostTables = 1_000;

/** `untilMs`: until then the answer holds. `readAtMs`: when the table gave it. */
type Held = {
  readonly clientId: string;
  readonly isKnown: boolean;
  readonly readAtMs: number;
  readonly untilMs: number;
};

type Table = { readonly datamartName: string; readonly datasourceName?: string };

const tableOf = (policy: Policy, { datamart, datasource }: SourceNames): Table => ({
  datamartName: datamart ?? policy.datamart,
  ...(datasource === undefined ? {} : { datasourceName: datasource }),
});

const shown = ({ datamartName, datasourceName }: Table): string =>
  `datamart ${JSON.stringify(datamartName)}${datasourceName === undefined ? '' : ` in datasource ${JSON.stringify(datasourceName)}`}`;

const unsupported = (why: string, cause?: unknown): Refusal =>
  undecided('known-tenants-unsupported', new Error(`knownTenants of the policy cannot be checked: ${why}`, { cause }));

const unreadable = (table: Table, cause: unknown): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "It cannot be checked right now whether this organisation is set up for analytics. Try again shortly; the gateway's log has the reason.",
    {
      reason: 'tenants-not-readable',
      cause: new Error(`the table of tenants of ${shown(table)} could not be read`, { cause }),
      retryAfterSeconds: restMs / 1000,
    },
  );

const unknown = ({ file, knownTenantsAt }: Policy, clientId: string, tables: readonly Table[]): Refusal =>
  new Refusal(
    'NO_TENANT',
    `Tenant ${JSON.stringify(clientId)} has no row in the table of tenants of ${tables.map(shown).join(' or ')}, ` +
      `and the policy serves known tenants only (knownTenants, ${basename(knownTenantsAt ?? file)}). ` +
      `Add its row, or correct session.tenant of the policy. A new row counts after ${unknownMs / 1000} seconds at most.`,
    { reason: 'tenant-not-in-table' },
  );

/** Codes by which the service refuses the names of a source. */
const nameCodes: ReadonlySet<string> = new Set(['INVALID_DATAMART', 'DATASOURCE_NAME_ERROR']);

/** Asks the table. Throws POLICY_UNDECIDED if it can never answer, and else whatever kept it from answering now. */
const askTable = async ({ upstream, capabilities }: Options, table: Table, clientId: string): Promise<boolean> => {
  try {
    await capabilities.requireCapability('list-tenant-names');
    const { data } = await upstream(listTenantNames, { ...table, clientIds: [clientId], timeoutMs });
    const { clientIds, column, isWhole } = data;
    if (!isWhole) throw new Error('the data source did not answer in time');
    if (column === null) throw unsupported(`${shown(table)} has no table of tenants (tenancy level TABLE)`);
    return clientIds.includes(clientId);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'NOT_SUPPORTED') throw unsupported(error.message);
    if (error instanceof UpstreamRefusal && nameCodes.has(error.code))
      throw unsupported(`the analytics service does not have ${shown(table)}`, error);
    throw error;
  }
};

const isUndecided = (error: unknown): error is Refusal => error instanceof Refusal && error.code === 'POLICY_UNDECIDED';

/** Returns whether one table has the tenant, from memory while that holds. Throws as `AssertKnown`. */
const createFind = (options: Options) => {
  const { clock } = options;
  const held = createLru<string, Held>(mostTenants);
  const awayUntilMs = createLru<string, number>(mostTables);
  const flight = createSingleFlight<boolean>();
  /** A known tenant goes on while its table cannot be read; another one is refused. */
  const withoutTable = (key: string, table: Table, nowMs: number, cause: unknown): boolean => {
    const last = held.get(key);
    if (last?.isKnown === true && nowMs < last.readAtMs + outageMs) return true;
    throw unreadable(table, cause);
  };
  const ask = async (key: string, table: Table, clientId: string): Promise<boolean> => {
    const nowMs = clock.now().getTime();
    const name = shown(table);
    if (nowMs < (awayUntilMs.get(name) ?? 0))
      return withoutTable(key, table, nowMs, new Error('it could not be read a moment ago'));
    try {
      const isKnown = await askTable(options, table, clientId);
      held.set(key, { clientId, isKnown, readAtMs: nowMs, untilMs: nowMs + (isKnown ? knownMs : unknownMs) });
      return isKnown;
    } catch (error) {
      if (isUndecided(error)) throw error;
      awayUntilMs.set(name, nowMs + restMs);
      return withoutTable(key, table, nowMs, error);
    }
  };
  return {
    find: async (table: Table, clientId: string): Promise<boolean> => {
      const key = JSON.stringify([table.datamartName, table.datasourceName ?? null, clientId]);
      const last = held.get(key);
      if (last !== undefined && clock.now().getTime() < last.untilMs) return last.isKnown;
      return flight(key, () => ask(key, table, clientId));
    },
    forget: (clientId: string) => dropWhere(held, (_, one) => one.clientId === clientId),
  };
};

export const createKnownTenants = (options: Options): KnownTenants => {
  const { find, forget } = createFind(options);
  return {
    forget,
    assert: async (policy, clientId, sources) => {
      if (policy.knownTenantsAt === null) return;
      const tables = new Map(sources.map((source) => tableOf(policy, source)).map((table) => [shown(table), table]));
      let failure: unknown;
      for (const table of tables.values()) {
        try {
          if (await find(table, clientId)) return;
        } catch (error) {
          failure ??= error;
        }
      }
      throw failure ?? unknown(policy, clientId, [...tables.values()]);
    },
  };
};

/**
 * Throws PolicyFaults if the policy serves known tenants only and the service cannot say which these are. A service that
 * cannot be asked now is asked before each token.
 */
export const assertCanKnowTenants = async (
  { knownTenantsAt }: Policy,
  { requireCapability }: Pick<Capabilities, 'requireCapability'>,
): Promise<void> => {
  if (knownTenantsAt === null) return;
  try {
    await requireCapability('list-tenant-names');
  } catch (error) {
    if (isUnreachable(error)) return;
    if (!(error instanceof Refusal) || error.code !== 'NOT_SUPPORTED') throw error;
    const message = `knownTenants: ${error.message} Otherwise leave knownTenants out.`;
    throw new PolicyFaults([{ at: knownTenantsAt, message }]);
  }
};
