/** Roll-outs in the gateway's ledger. */
import type { Kysely, Selectable } from 'kysely';
import type { Clock } from '../../domain/ports.js';
import type { Ledger, LedgerTables } from '../ledger/ledger.js';
import { createItemRows } from './item-rows.js';
import type { Rollout, RolloutLedger, RolloutRows, TenantDashboard } from './rollout.js';

type Db = Kysely<LedgerTables>;

const decodeRollout = ({ options, ...row }: Selectable<LedgerTables['rollouts']>): Rollout => ({
  id: row.id,
  template: row.template,
  version: row.version,
  workspace: row.workspace,
  options: JSON.parse(options),
  state: row.state,
});

const dashboardsOf = (db: Db) =>
  db
    .selectFrom('dashboards')
    .innerJoin('tenants', 'tenants.tenant_ref', 'dashboards.tenant_ref')
    .select((eb) => [
      'dashboards.dashboard_id as dashboardId',
      'dashboards.tenant_ref as tenantRef',
      // An erased tenant has none, and is not among these.
      eb.ref('tenants.client_id').$notNull().as('clientId'),
      'dashboards.template',
      'dashboards.template_version as version',
    ])
    .where('tenants.state', '<>', 'deleted')
    .where('tenants.client_id', 'is not', null)
    // One that was never seen to be there is provisioning's affair.
    .where('dashboards.verified_at', 'is not', null);

const insert = async (
  db: Db,
  now: Date,
  { options, ...rollout }: Rollout,
  items: readonly (TenantDashboard & { readonly cohort: number })[],
): Promise<void> => {
  const times = { created_at: now, updated_at: now };
  const row = { ...rollout, ...times, options: JSON.stringify(options), runner: null, lease_until: null };
  await db.transaction().execute(async (inner) => {
    await inner.insertInto('rollouts').values(row).execute();
    // A statement has 65,535 parameters at most.
    for (let start = 0; start < items.length; start += 5000) {
      const rows = items.slice(start, start + 5000).map(({ dashboardId, tenantRef, cohort, version }) => ({
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

const lease = async (db: Db, now: Date, id: string, runner: string, leaseMs: number): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('rollouts')
    .set({ runner, lease_until: new Date(now.getTime() + leaseMs) })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('runner', 'is', null), eb('runner', '=', runner), eb('lease_until', '<=', now)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const createRolloutRows = (db: Db, clock: Clock): RolloutRows => ({
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
    return rows.map(decodeRollout);
  },
  lease: (id, runner, leaseMs) => lease(db, clock.now(), id, runner, leaseMs),
  release: async (id, runner) => {
    const free = db.updateTable('rollouts').set({ runner: null, lease_until: null });
    await free.where('id', '=', id).where('runner', '=', runner).execute();
  },
  isLeased: async (id) => {
    const held = db.selectFrom('rollouts').select('id').where('id', '=', id);
    return (await held.where('lease_until', '>', clock.now()).executeTakeFirst()) !== undefined;
  },
  findLeased: async (template) => {
    const held = db.selectFrom('rollouts').select('id').where('template', '=', template);
    return (await held.where('lease_until', '>', clock.now()).limit(1).executeTakeFirst())?.id;
  },
  setState: async (id, state) => {
    await db.updateTable('rollouts').set({ state, updated_at: clock.now() }).where('id', '=', id).execute();
  },
});

export const createRolloutLedger = ({ db }: Pick<Ledger, 'db'>, clock: Clock): RolloutLedger => ({
  ...createRolloutRows(db, clock),
  ...createItemRows(db, clock),
});
