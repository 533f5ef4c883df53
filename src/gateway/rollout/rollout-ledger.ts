/** Roll-outs in the gateway's ledger. */
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely';
import type { Clock } from '../../domain/ports.js';
import { createLeases, type Leases } from '../ledger/leases.js';
import type { Ledger, LedgerTables } from '../ledger/ledger.js';
import { isAlive } from '../ledger/processes.js';
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

/** Items of one statement: the embedded database keeps everybody waiting while it works on one. */
const togetherAtMost = 200;

const insert = async (
  db: Db,
  now: Date,
  { options, ...rollout }: Rollout,
  items: readonly (TenantDashboard & { readonly cohort: number })[],
): Promise<void> => {
  const times = { created_at: now, updated_at: now };
  const row = { ...rollout, ...times, options: JSON.stringify(options) };
  await db.transaction().execute(async (inner) => {
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

const leaseName = (id: string): string => `rollout/${id}`;

/** Of `rollouts`: its lease, whose process is alive or not. */
const leased = (whileAlive: boolean) => {
  const holderAlive = isAlive(sql.ref('leases.process_id'));
  return sql<SqlBool>`exists (select from guestlist_gateway.leases
    where leases.name = ${leaseName('')} || rollouts.id and ${whileAlive ? holderAlive : sql`not ${holderAlive}`})`;
};

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
    return rows.map(decodeRollout);
  },
  lease: (id) => leases.take(leaseName(id)),
  isLeased: (id) => leases.isHeld(leaseName(id)),
  findLeased: async (template) => {
    const held = db.selectFrom('rollouts').select('id').where('template', '=', template).where(leased(true));
    return (await held.limit(1).executeTakeFirst())?.id;
  },
  listCutOff: async () => {
    const unended = db.selectFrom('rollouts').selectAll().where('state', 'in', ['running', 'rolling-back']);
    return (await unended.where(leased(false)).execute()).map(decodeRollout);
  },
  setState: async (id, state) => {
    await db.updateTable('rollouts').set({ state, updated_at: clock.now() }).where('id', '=', id).execute();
  },
});

export const createRolloutLedger = (ledger: Pick<Ledger, 'db' | 'self'>, clock: Clock): RolloutLedger => ({
  ...createRolloutRows(ledger.db, createLeases(ledger), clock),
  ...createItemRows(ledger.db, clock),
});
