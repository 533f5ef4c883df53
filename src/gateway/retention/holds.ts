/**
 * Holds: while one covers a tenant, no sweep deletes what is of this tenant. They are stored here and told to the service,
 * which keeps rows of its own. A hold is in force in the ledger once it is stored, and at the service once it is told.
 */
import { randomBytes } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { stopSweeps } from '../../platform/databases/aged-rows.js';
import type { Call } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { holdClients, mostHeldClients } from '../../service/data-apps/contract/client-holds.js';
import { appendWithin } from '../audit/append.js';
import type { AuditEvent } from '../audit/audit.js';
import type { Eraser } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';
import { type LedgerTables, schemaName } from '../ledger/tables.js';
import type { FinishWork } from '../ledger/takeover.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type Hold = {
  readonly id: string;
  /** Null: all tenants, and what belongs to none. */
  readonly clientId: string | null;
  readonly reason: string;
  readonly placedBy: string | null;
  readonly placedAt: Date;
};

/** Whether the service has all holds. `unsupported`: it is one that takes none. */
export type ServiceHas = 'told' | 'unreachable' | 'unsupported';

export type Holds = {
  /** `isKnown`: whether the audit knows the tenant. Throws INVALID_REQUEST_BODY for an erased tenant, and beyond the limit. */
  readonly add: (
    what: Pick<Hold, 'clientId' | 'reason'>,
    by: string | null,
  ) => Promise<Hold & { readonly isKnown: boolean; readonly service: ServiceHas }>;
  /** Throws NOT_FOUND. */
  readonly remove: (
    what: Pick<Hold, 'id' | 'reason'>,
    by: string | null,
  ) => Promise<Hold & { readonly service: ServiceHas }>;
  readonly list: () => Promise<{ readonly holds: readonly Hold[]; readonly service: ServiceHas }>;
  /** Tells the service what it does not know yet. */
  readonly finish: FinishWork;
  readonly eraser: Eraser;
};

export type HoldsOptions = {
  readonly ledger: Ledger;
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'requireCapability'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
};

type Db = Transaction<LedgerTables>;

/** Changes the holds while no sweep runs, and counts the change. */
const change = <Result>({ db }: Ledger, work: (db: Db) => Promise<Result>): Promise<Result> =>
  db.transaction().execute(async (inner) => {
    await stopSweeps(inner, schemaName);
    const result = await work(inner);
    await inner.updateTable('retention').set({ holds_version: sql<string>`holds_version + 1` }).execute();
    return result;
  });

const holdOf = (row: LedgerTables['holds']): Hold => ({
  id: row.id,
  clientId: row.client_id,
  reason: row.reason,
  placedBy: row.placed_by,
  placedAt: row.placed_at,
});

/** An erased tenant must not be named again. Its row is locked, so that no erasure begins before the hold is stored. */
const assertNotErased = async (db: Db, tenantRef: string): Promise<void> => {
  const own = db.selectFrom('tenants').select('state').where('tenant_ref', '=', tenantRef).forShare();
  if ((await own.executeTakeFirst())?.state !== 'deleted') return;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    'clientId: this tenant was deleted, and nothing is left of it that a hold could keep.',
  );
};

const assertRoom = async (db: Db): Promise<void> => {
  const { count } = await db
    .selectFrom('holds')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) < mostHeldClients) return;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `There are ${mostHeldClients} holds, and no more can be placed: remove some, or hold all tenants.`,
  );
};

const eventOf = (command: string, { id, clientId }: Hold, reason: string, by: string | null): AuditEvent => ({
  kind: 'admin',
  code: 'OK',
  ...(clientId === null ? {} : { clientId }),
  detail: { command, hold: id, covers: clientId === null ? 'all' : 'tenant', reason, operator: by },
});

const createChanges = ({ ledger, clock }: HoldsOptions) => ({
  add: ({ clientId, reason }: Pick<Hold, 'clientId' | 'reason'>, by: string | null) =>
    change(ledger, async (db) => {
      const tenantRef = clientId === null ? null : ledger.refOf(clientId);
      if (tenantRef !== null) await assertNotErased(db, tenantRef);
      await assertRoom(db);
      const known = db
        .selectFrom('tenant_keys')
        .select('tenant_ref')
        .where('tenant_ref', '=', tenantRef ?? '');
      const isKnown = tenantRef === null || (await known.executeTakeFirst()) !== undefined;
      const row = {
        ...{ id: randomBytes(5).toString('hex'), tenant_ref: tenantRef, client_id: clientId },
        ...{ reason, placed_by: by, placed_at: clock.now() },
      };
      await db.insertInto('holds').values(row).execute();
      const hold = holdOf(row);
      await appendWithin(db, ledger, [{ at: row.placed_at, event: eventOf('hold-add', hold, reason, by) }]);
      return { ...hold, isKnown };
    }),
  remove: ({ id, reason }: Pick<Hold, 'id' | 'reason'>, by: string | null) =>
    change(ledger, async (db) => {
      const row = await db.deleteFrom('holds').where('id', '=', id).returningAll().executeTakeFirst();
      if (row === undefined)
        throw new Refusal('NOT_FOUND', `There is no hold ${id}. "guestlist hold list" lists them.`);
      const hold = holdOf(row);
      await appendWithin(db, ledger, [{ at: clock.now(), event: eventOf('hold-remove', hold, reason, by) }]);
      return hold;
    }),
});

/** An erasure ends the holds of its tenant: nothing is left that they could keep. The audit says so. */
const createEraser = ({ ledger, clock, log }: HoldsOptions): Eraser => ({
  where: 'holds',
  erase: async ({ tenantRef }, { write }) => {
    const ended = await write(async (db) => {
      await stopSweeps(db, schemaName);
      const rows = await db.deleteFrom('holds').where('tenant_ref', '=', tenantRef).returning('id').execute();
      if (rows.length === 0) return rows;
      await db.updateTable('retention').set({ holds_version: sql<string>`holds_version + 1` }).execute();
      const detail = { event: 'hold-ended', holds: rows.map(({ id }) => id).join(' ') };
      await appendWithin(db, ledger, [{ at: clock.now(), event: { kind: 'erasure', code: 'OK', detail } }]);
      return rows;
    });
    if (ended.length > 0)
      log.warn({ event: 'hold.ended', count: ended.length }, 'a tenant under a hold was erased; its holds have ended');
    return { erased: { holds: ended.length } };
  },
});

/** What the service is told. Read in one statement, so that the version is that of the holds. */
const readTold = async ({ db }: Ledger) => {
  const { rows } = await sql<{
    readonly version: string;
    readonly told: string;
    readonly isAll: boolean;
    readonly clientIds: readonly string[];
  }>`
    select holds_version::text as version, told_version::text as told,
      exists (select from guestlist_gateway.holds where tenant_ref is null) as "isAll",
      array(select distinct client_id from guestlist_gateway.holds where client_id is not null order by 1) as "clientIds"
    from guestlist_gateway.retention`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the row of the retention is missing');
  return row;
};

/** Notes what the service has. A service with a larger version knows holds of a ledger that was restored since: the own ones count. */
const noteTold = async ({ db }: Ledger, version: string, answered: string): Promise<void> => {
  await sql`
    update guestlist_gateway.retention set told_version = greatest(told_version, ${version}::bigint),
      holds_version = case when holds_version < ${answered}::bigint then ${answered}::bigint + 1 else holds_version end`.execute(
    db,
  );
};

/** The first call tells the service in any case: it may have been restored since. */
const createTell = ({ ledger, upstream, capabilities }: HoldsOptions) => {
  let isSure = false;
  const tell = async (): Promise<ServiceHas> => {
    const { version, told, ...holds } = await readTold(ledger);
    if (version === '0' || (isSure && told === version)) return 'told';
    await capabilities.requireCapability('hold-clients');
    const { data } = await upstream(holdClients, { ...holds, clientIds: [...holds.clientIds], version });
    await noteTold(ledger, version, data.version);
    isSure = true;
    return (await readTold(ledger)).version === version ? 'told' : tell();
  };
  return tell;
};

export const createHolds = (options: HoldsOptions): Holds => {
  const { ledger, log } = options;
  const changes = createChanges(options);
  const tell = createTell(options);
  const tryToTell = async (): Promise<ServiceHas> => {
    try {
      return await tell();
    } catch (err) {
      if (err instanceof Refusal && err.code === 'NOT_SUPPORTED') return 'unsupported';
      log.warn({ event: 'hold.tell_failed', err }, 'failed to tell the service of a hold; retrying');
      return 'unreachable';
    }
  };
  return {
    add: async (what, by) => ({ ...(await changes.add(what, by)), service: await tryToTell() }),
    remove: async (what, by) => ({ ...(await changes.remove(what, by)), service: await tryToTell() }),
    list: async () => {
      const rows = await ledger.db.selectFrom('holds').selectAll().orderBy('placed_at').orderBy('id').execute();
      return { holds: rows.map(holdOf), service: rows.length === 0 ? 'told' : await tryToTell() };
    },
    finish: async () => ((await tryToTell()) === 'unreachable' ? 1 : 0),
    eraser: createEraser(options),
  };
};
