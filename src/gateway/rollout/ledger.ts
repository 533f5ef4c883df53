/** Stores roll-outs and their items in the gateway's ledger. */

import { type Kysely, type Selectable, type SqlBool, sql, type Updateable } from 'kysely';
import type { DashboardContent } from '../../model/dashboard/dashboard.js';
import type { Conflict } from '../../model/dashboard/merge/three-way.js';
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { createLeases, type Leases } from '../ledger/leases.js';
import type { ItemState, Ledger, LedgerTables, RolloutState } from '../ledger/ledger.js';
import { isAlive } from '../ledger/processes.js';
import {
  type ItemKey,
  type ItemOutcome,
  type ItemPage,
  type ItemRows,
  type ItemTarget,
  type Rollout,
  type RolloutItem,
  type RolloutLedger,
  type RolloutRows,
  reachesAll,
  type TenantDashboard,
} from './model.js';

type Db = Kysely<LedgerTables>;

const inTransaction = <T>(db: Db, work: (inner: Db) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

const decodeRollout = ({ options, ...row }: Selectable<LedgerTables['rollouts']>): Rollout => ({
  id: row.id,
  template: row.template,
  version: row.version,
  workspace: row.workspace,
  options: JSON.parse(options),
  state: row.state,
  startedBy: row.started_by,
});

const dashboardsOf = (db: Db) =>
  db
    .selectFrom('dashboards')
    .innerJoin('tenants', 'tenants.tenant_ref', 'dashboards.tenant_ref')
    .select((eb) => [
      'dashboards.dashboard_id as dashboardId',
      'dashboards.tenant_ref as tenantRef',
      // Not null: the filter below excludes erased tenants.
      eb.ref('tenants.client_id').$notNull().as('clientId'),
      'dashboards.template',
      'dashboards.template_version as version',
    ])
    .where('tenants.state', '<>', 'deleted')
    .where('tenants.client_id', 'is not', null)
    // Copies that were never verified are left to provisioning.
    .where('dashboards.verified_at', 'is not', null);

/**
 * Maximum number of items in one insert. The embedded database runs one statement at a time, so a long one delays all
 * others.
 */
const togetherAtMost = 200;

const insert = async (
  db: Db,
  now: Date,
  given: Rollout,
  items: readonly (TenantDashboard & { readonly cohort: number })[],
): Promise<void> => {
  const { options, startedBy, ...rollout } = given;
  const times = { created_at: now, updated_at: now };
  const row = { ...rollout, ...times, started_by: startedBy, options: JSON.stringify(options) };
  await inTransaction(db, async (inner) => {
    await assertAlone(inner, given);
    await inner.insertInto('rollouts').values(row).execute();
    for (let start = 0; start < items.length; start += togetherAtMost) {
      const rows = items.slice(start, start + togetherAtMost).map(({ dashboardId, tenantRef, cohort, version }) => ({
        rollout_id: rollout.id,
        dashboard_id: dashboardId,
        tenant_ref: tenantRef,
        cohort,
        state: 'waiting' as const,
        from_version: version,
        updated_at: now,
      }));
      await inner.insertInto('rollout_items').values(rows).execute();
    }
  });
};

/**
 * Its caller holds the lease of the roll-out, so of two that look at one time at least one sees the other. The lock of the
 * template is held until the transaction ends: by then the row of the first one is stored.
 */
const assertAlone = (db: Db, { id, template }: Pick<Rollout, 'id' | 'template'>): Promise<void> =>
  inTransaction(db, async (inner) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`guestlist rollout/${template}`}, 0))`.execute(inner);
    const others = inner.selectFrom('rollouts').select('id').where('template', '=', template).where('id', '<>', id);
    const other = await others.where(leased).limit(1).executeTakeFirst();
    if (other === undefined) return;
    throw new Refusal('NOT_SUPPORTED', `Roll-out ${other.id} of this template is running: see its status.`, {
      reason: 'rollout-state',
    });
  });

const addNew = async (db: Db, now: Date, { id, template, version, options }: Rollout): Promise<void> => {
  const copies = dashboardsOf(db)
    .where('dashboards.template', '=', template)
    .where('dashboards.template_version', 'is distinct from', version)
    .where(({ not, exists, selectFrom }) => {
      const items = selectFrom('rollout_items').select('rollout_items.dashboard_id').where('rollout_id', '=', id);
      return not(exists(items.whereRef('rollout_items.dashboard_id', '=', 'dashboards.dashboard_id')));
    });
  await db
    .insertInto('rollout_items')
    .columns(['rollout_id', 'dashboard_id', 'tenant_ref', 'cohort', 'state', 'from_version', 'updated_at'])
    .expression(
      db
        .selectFrom(copies.as('copy'))
        .select(({ val }) => [
          sql<string>`${id}::uuid`.as('rollout_id'),
          'copy.dashboardId',
          'copy.tenantRef',
          sql<number>`${options.steps.length}::integer`.as('cohort'),
          sql<'waiting'>`'waiting'`.as('state'),
          'copy.version',
          val(now).as('updated_at'),
        ]),
    )
    .execute();
};

const setState = async (db: Db, now: Date, id: string, state: RolloutState): Promise<void> => {
  await db.updateTable('rollouts').set({ state, updated_at: now }).where('id', '=', id).execute();
};

const finish = (db: Db, now: Date, rollout: Rollout): Promise<void> =>
  inTransaction(db, async (inner) => {
    await setState(inner, now, rollout.id, 'finished');
    if (reachesAll(rollout.options)) await addNew(inner, now, rollout);
  });

const findPublished = async (db: Db, template: string): Promise<string | undefined> => {
  const finished = db.selectFrom('rollouts').select(['version', 'options']).where('template', '=', template);
  const rows = await finished.where('state', '=', 'finished').orderBy('created_at', 'desc').orderBy('id').execute();
  return rows.find(({ options }) => reachesAll(JSON.parse(options)))?.version;
};

const leaseName = (id: string): string => `rollout/${id}`;

/** An SQL condition on `rollouts`: a live process holds the lease. */
const leased = sql<SqlBool>`exists (select from guestlist_gateway.leases
  where leases.name = ${leaseName('')} || rollouts.id and ${isAlive(sql.ref('leases.process_id'))})`;

/** An SQL condition on `rollouts`: copies that were added at its end wait, and no later roll-out brings them further. */
const hasTail = sql<SqlBool>`state = 'finished' and exists (select from guestlist_gateway.rollout_items as item
  where item.rollout_id = rollouts.id and item.state in ('waiting', 'prepared'))
  and not exists (select from guestlist_gateway.rollouts as later
  where later.template = rollouts.template and later.created_at > rollouts.created_at)`;

/** Roll-outs that are not at their end and that no live process works on. */
export const interruptedRollouts = (db: Db) =>
  db
    .selectFrom('rollouts')
    .where((eb) => eb.or([eb('state', 'in', ['running', 'rolling-back']), hasTail]))
    .where(({ not }) => not(leased));

const createRolloutRows = (db: Db, leases: Leases, clock: Clock): RolloutRows => ({
  listDashboards: (template, { after, limit }) =>
    dashboardsOf(db)
      .where('dashboards.template', '=', template)
      .where('dashboards.tenant_ref', '>', after)
      .orderBy('dashboards.tenant_ref')
      .limit(limit)
      .execute(),
  insert: (rollout, items) => insert(db, clock.now(), rollout, items),
  find: async (id) => {
    const row = await db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirst();
    return row && decodeRollout(row);
  },
  list: async () => {
    const rows = await db
      .selectFrom('rollouts')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(100)
      .execute();
    return rows.map((row) => ({ ...decodeRollout(row), startedAt: row.created_at }));
  },
  addNew: (rollout) => addNew(db, clock.now(), rollout),
  finish: (rollout) => finish(db, clock.now(), rollout),
  findPublished: (template) => findPublished(db, template),
  countByVersion: async (template) => {
    const counted = await db
      .selectFrom(dashboardsOf(db).where('dashboards.template', '=', template).as('copy'))
      .select(({ fn }) => ['copy.version', fn.countAll<string>().as('copies')])
      .groupBy('copy.version')
      .execute();
    return new Map(counted.map(({ version, copies }) => [version, Number(copies)]));
  },
  lease: (id) => leases.take(leaseName(id)),
  isLeased: (id) => leases.isHeld(leaseName(id)),
  assertAlone: (rollout) => assertAlone(db, rollout),
  listInterrupted: async () =>
    (await interruptedRollouts(db).selectAll().orderBy('created_at').execute()).map(decodeRollout),
  setState: (id, state) => setState(db, clock.now(), id, state),
});

export const createRolloutLedger = (ledger: Pick<Ledger, 'db' | 'self'>, clock: Clock): RolloutLedger => {
  const leases = createLeases(ledger);
  const on = (db: Db): RolloutLedger => ({
    ...createRolloutRows(db, leases, clock),
    ...createItemRows(db, clock),
    under: ({ write }) => ({
      ...on(db),
      insert: (...given) => write((inner) => on(inner).insert(...given)),
      assertAlone: (...given) => write((inner) => on(inner).assertAlone(...given)),
      addNew: (...given) => write((inner) => on(inner).addNew(...given)),
      finish: (...given) => write((inner) => on(inner).finish(...given)),
      setState: (...given) => write((inner) => on(inner).setState(...given)),
      prepare: (...given) => write((inner) => on(inner).prepare(...given)),
      settle: (...given) => write((inner) => on(inner).settle(...given)),
      forgetTenant: (...given) => write((inner) => on(inner).forgetTenant(...given)),
    }),
  });
  return on(ledger.db);
};

/** The items of roll-outs: one row for each dashboard. */

const itemsOf = (db: Db) =>
  db
    .selectFrom('rollout_items')
    .innerJoin('rollouts', 'rollouts.id', 'rollout_items.rollout_id')
    .leftJoin('tenants', 'tenants.tenant_ref', 'rollout_items.tenant_ref')
    .leftJoin('dashboards', (join) =>
      join
        .onRef('dashboards.tenant_ref', '=', 'rollout_items.tenant_ref')
        .onRef('dashboards.template', '=', 'rollouts.template'),
    );

const parsed = <T>(text: string | null): T | null => (text === null ? null : JSON.parse(text));

const findItem = async (db: Db, { rolloutId, dashboardId }: ItemKey): Promise<RolloutItem | undefined> => {
  const row = await itemsOf(db)
    .selectAll('rollout_items')
    .select(['rollouts.template', 'tenants.client_id', 'dashboards.template_version as version'])
    .where('rollout_items.rollout_id', '=', rolloutId)
    .where('rollout_items.dashboard_id', '=', dashboardId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const before = parsed<DashboardContent>(row.before_content);
  const after = parsed<DashboardContent>(row.after_content);
  return {
    dashboardId,
    tenantRef: row.tenant_ref,
    clientId: row.client_id ?? '',
    template: row.template,
    version: row.version,
    cohort: row.cohort,
    state: row.state,
    fromVersion: row.from_version,
    before: before === null || row.before_digest === null ? null : { content: before, digest: row.before_digest },
    after: after === null ? null : { content: after, digest: row.after_digest },
    conflicts: parsed<readonly Conflict[]>(row.conflicts) ?? [],
    fault: row.fault,
  };
};

const updateItem = (db: Db, { rolloutId, dashboardId }: ItemKey, set: Updateable<LedgerTables['rollout_items']>) =>
  db
    .updateTable('rollout_items')
    .set(set)
    .where('rollout_id', '=', rolloutId)
    .where('dashboard_id', '=', dashboardId)
    .execute();

const unwritten = { before_content: null, before_digest: null, after_content: null, after_digest: null };

const settle = (db: Db, now: Date, target: ItemTarget, settlement: ItemOutcome): Promise<void> =>
  inTransaction(db, async (inner) => {
    const { state, afterDigest, conflicts, fault = null, version, isUnwritten = false } = settlement;
    await updateItem(inner, target, {
      state,
      fault,
      updated_at: now,
      ...(afterDigest === undefined ? {} : { after_digest: afterDigest }),
      ...(isUnwritten ? unwritten : {}),
      ...(conflicts === undefined ? {} : { conflicts: JSON.stringify(conflicts) }),
    });
    if (version === undefined) return;
    await inner
      .updateTable('dashboards')
      .set({ template_version: version })
      .where('tenant_ref', '=', target.tenantRef)
      .where('template', '=', target.template)
      .execute();
  });

const notable: readonly ItemState[] = [
  'conflict',
  'missing',
  'unknown-base',
  'failed',
  'restore-conflict',
  'restore-missing',
  'restore-failed',
];

/** Number of ids in one read. */
const sliceSize = 1000;

const listNotable = async (db: Db, id: string, { after, limit }: ItemPage) => {
  const rows = await itemsOf(db)
    .select(['rollout_items.dashboard_id', 'rollout_items.cohort', 'rollout_items.state'])
    .select(['rollout_items.conflicts', 'rollout_items.fault', 'tenants.client_id'])
    .where('rollout_items.rollout_id', '=', id)
    .where((eb) => eb.or([eb('rollout_items.state', 'in', notable), eb('rollout_items.conflicts', '<>', '[]')]))
    .where('rollout_items.dashboard_id', '>', after)
    .orderBy('rollout_items.dashboard_id')
    .limit(limit)
    .execute();
  return rows.map(({ dashboard_id, client_id, conflicts, cohort, state, fault }) => ({
    dashboardId: dashboard_id,
    clientId: client_id ?? '',
    cohort,
    state,
    fault,
    conflicts: parsed<readonly Conflict[]>(conflicts) ?? [],
  }));
};

const createItemRows = (db: Db, clock: Clock): ItemRows => ({
  count: async (id) => {
    const rows = await db
      .selectFrom('rollout_items')
      .select(({ fn }) => ['cohort', 'state', fn.countAll<string>().as('count')])
      .where('rollout_id', '=', id)
      .groupBy(['cohort', 'state'])
      .orderBy('cohort')
      .orderBy('state')
      .execute();
    return rows.map(({ count, ...row }) => ({ ...row, count: Number(count) }));
  },
  listIds: async (id, states, cohort) => {
    const rows = db.selectFrom('rollout_items').select('dashboard_id').where('rollout_id', '=', id);
    const wanted = cohort === undefined ? rows : rows.where('cohort', '=', cohort);
    const ordered = wanted.where('state', 'in', states).orderBy('dashboard_id').limit(sliceSize);
    const ids: string[] = [];
    for (;;) {
      const slice = await ordered.where('dashboard_id', '>', ids.at(-1) ?? '').execute();
      ids.push(...slice.map(({ dashboard_id }) => dashboard_id));
      if (slice.length < sliceSize) return ids;
    }
  },
  findItem: (key) => findItem(db, key),
  prepare: async (key, { before, after, conflicts }) => {
    await updateItem(db, key, {
      state: 'prepared',
      before_content: JSON.stringify(before.content),
      before_digest: before.digest,
      after_content: JSON.stringify(after),
      after_digest: null,
      conflicts: JSON.stringify(conflicts),
      fault: null,
      updated_at: clock.now(),
    });
  },
  settle: (target, settlement) => settle(db, clock.now(), target, settlement),
  listNotable: (id, page) => listNotable(db, id, page),
  forgetTenant: async (tenantRef) => {
    const { numDeletedRows } = await db
      .deleteFrom('rollout_items')
      .where('tenant_ref', '=', tenantRef)
      .executeTakeFirst();
    return Number(numDeletedRows);
  },
});
