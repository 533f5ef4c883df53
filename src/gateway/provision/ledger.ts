/**
 * The ledger of dashboards: which copies were begun, made and verified for each tenant. A row is stored before its
 * dashboard is made, so that after a crash, or when the tenant is deleted, the dashboard is known. Every statement that
 * adds to the ledger checks the tenant's state itself, so nothing is begun or recorded for a deleted tenant. Throws
 * UPSTREAM_UNAVAILABLE if the ledger cannot be reached.
 */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Refusal } from '../../model/refusal.js';
import type { Lease } from '../ledger/leases.js';
import type { Ledger, TenantState } from '../ledger/ledger.js';
import { isAlive } from '../ledger/processes.js';
import { schemaName } from '../ledger/tables.js';
import { unavailable } from '../upstream/unavailable.js';

/**
 * The upstream of a copy and the API key that can read it. A copy that was verified at another upstream or with another
 * key is verified again.
 */
export type CopyLocation = { readonly upstream: string; readonly keyRef: string };

export type DashboardRow = {
  readonly template: string;
  readonly dashboardId: string;
  readonly upstream: string;
  readonly keyRef: string;
  readonly templateVersion: string | null;
  readonly startedAt: Date;
  readonly createdAt: Date | null;
  readonly verifiedAt: Date | null;
  readonly doubtedAt: Date | null;
  readonly failedAt: Date | null;
  readonly failedStep: string | null;
  readonly failure: string | null;
  readonly failures: number;
};

export type TenantDashboards = { readonly state: TenantState | null; readonly dashboards: readonly DashboardRow[] };

export const isVerifiedAt = (row: DashboardRow | undefined, { upstream, keyRef }: CopyLocation): boolean =>
  row !== undefined &&
  row.upstream === upstream &&
  row.keyRef === keyRef &&
  row.verifiedAt !== null &&
  row.doubtedAt === null;

/** The columns of a DashboardRow, selected from `dashboards as d`. */
export const dashboardColumns = [
  'd.template',
  'd.dashboard_id as dashboardId',
  'd.upstream',
  'd.key_ref as keyRef',
  'd.template_version as templateVersion',
  'd.started_at as startedAt',
  'd.created_at as createdAt',
  'd.verified_at as verifiedAt',
  'd.doubted_at as doubtedAt',
  'd.failed_at as failedAt',
  'd.failed_step as failedStep',
  'd.failure',
  'd.failures',
] as const;

/** Awaits a statement of the ledger. Throws UPSTREAM_UNAVAILABLE if the ledger cannot be reached. */
export const askLedger = async <T>(statement: Promise<T>): Promise<T> => {
  try {
    return await statement;
  } catch (cause) {
    throw cause instanceof Refusal ? cause : unavailable('ledger-unavailable', cause);
  }
};

/** Returns all rows of a tenant. `state` is null for an unknown tenant. */
const readTenant = async (db: Ledger['db'], tenantRef: string): Promise<TenantDashboards> => {
  const rows = await askLedger(
    db
      .selectFrom('tenants as t')
      .leftJoin('dashboards as d', 'd.tenant_ref', 't.tenant_ref')
      .select(['t.state', ...dashboardColumns])
      .where('t.tenant_ref', '=', tenantRef)
      .execute(),
  );
  // The left join returns one row without a template for a tenant without dashboards.
  const found = rows.flatMap(({ state: _, ...row }) => (row.template === null ? [] : [row as DashboardRow]));
  return { state: rows[0]?.state ?? null, dashboards: found };
};

/** A copy that is being made. */
export type CopyTarget = {
  readonly tenantRef: string;
  readonly clientId: string;
  readonly template: string;
  readonly dashboardId: string;
  readonly place: CopyLocation;
  /** Id of the current attempt to make it. */
  readonly attempt: string;
};

/**
 * The copy's state before this attempt. `wasVerified`: it was verified once, so a guest may have used it since.
 * `isResumed`: an earlier attempt began and did not complete.
 */
export type PriorState = { readonly wasVerified: boolean; readonly isResumed: boolean };

/**
 * Time in milliseconds after which another process may take over an attempt of a live process. Longer than any call to
 * the upstream takes.
 */
const attemptMs = 60_000;

const tenants = sql.table(`${schemaName}.tenants`);
const dashboards = sql.table(`${schemaName}.dashboards`);

/** Returns the attempt with its process's id, so that the attempt of a dead process can be taken over at once. */
const attemptOf = ({ self }: Pick<Ledger, 'self'>, { attempt }: CopyTarget): string => `${self.id()}/${attempt}`;

const ofDeadProcess = (attempt: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`not ${isAlive(sql`split_part(${sql.ref(attempt)}, '/', 1)`)}`;

/** Also locks the tenant's row: a concurrent deletion of the tenant runs either before this statement or after it. */
const beginStatement = (target: CopyTarget, now: Date) => {
  const stale = new Date(now.getTime() - attemptMs);
  return sql<{ wasVerified: boolean; isNew: boolean }>`
    with tenant as (
      insert into ${tenants} as t (tenant_ref, client_id, state, created_at, updated_at)
      values (${target.tenantRef}, ${target.clientId}, 'active', ${now}, ${now})
      on conflict (tenant_ref) do update set updated_at = t.updated_at
      returning tenant_ref, state
    )
    insert into ${dashboards} as d (tenant_ref, template, dashboard_id, upstream, key_ref, attempt, started_at)
    select tenant_ref, ${target.template}, ${target.dashboardId}, ${target.place.upstream}, ${target.place.keyRef},
      ${target.attempt}, ${now}::timestamptz
    from tenant where state <> 'deleted'
    on conflict (tenant_ref, template) do update set
      dashboard_id = excluded.dashboard_id, upstream = excluded.upstream, key_ref = excluded.key_ref,
      attempt = excluded.attempt, started_at = excluded.started_at,
      template_version = case when d.upstream = excluded.upstream then d.template_version end,
      created_at = case when d.upstream = excluded.upstream then d.created_at end,
      verified_at = case when d.upstream = excluded.upstream then d.verified_at end,
      doubted_at = excluded.started_at, failed_at = null, failed_step = null, failure = null
    where d.upstream <> excluded.upstream or d.key_ref <> excluded.key_ref
      or ((d.verified_at is null or d.doubted_at is not null) and (d.failed_at is not null or d.started_at < ${stale} or ${ofDeadProcess('d.attempt')}))
    returning d.verified_at is not null as "wasVerified", d.doubted_at is null as "isNew"`;
};

type Db = Ledger['db'];

/** Copies of active tenants that a process began, and did not end in any way before it died. */
export const interruptedCopies = (db: Db) =>
  db
    .selectFrom('dashboards')
    .innerJoin('tenants', 'tenants.tenant_ref', 'dashboards.tenant_ref')
    .where('tenants.state', '=', 'active')
    .where('tenants.client_id', 'is not', null)
    .where('dashboards.verified_at', 'is', null)
    .where('dashboards.failed_at', 'is', null)
    .where(ofDeadProcess('dashboards.attempt'));

const beginTarget = async (db: Db, target: CopyTarget, now: Date): Promise<PriorState | 'deleted' | 'verified'> => {
  const { rows } = await askLedger(beginStatement(target, now).execute(db));
  const [mine] = rows;
  if (mine !== undefined) return { wasVerified: mine.wasVerified, isResumed: !mine.isNew && !mine.wasVerified };
  const { state, dashboards: found } = await readTenant(db, target.tenantRef);
  if (state === 'deleted') return 'deleted';
  const row = found.find(({ template }) => template === target.template);
  if (isVerifiedAt(row, target.place)) return 'verified';
  const wasVerified = row !== undefined && row.verifiedAt !== null;
  return { wasVerified, isResumed: !wasVerified };
};

const updateOf = (db: Db, { tenantRef, template, place }: CopyTarget) =>
  db
    .updateTable('dashboards')
    .where('tenant_ref', '=', tenantRef)
    .where('template', '=', template)
    .where('upstream', '=', place.upstream);

const claimTarget = async (db: Db, target: CopyTarget, now: Date): Promise<boolean> => {
  const { numUpdatedRows } = await askLedger(
    updateOf(db, target)
      .set({ attempt: target.attempt, started_at: now })
      .where('verified_at', 'is', null)
      .where(({ or, eb }) =>
        or([
          eb('attempt', '=', target.attempt),
          eb('started_at', '<', new Date(now.getTime() - attemptMs)),
          ofDeadProcess('attempt'),
          eb('failed_at', 'is not', null),
        ]),
      )
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n;
};

/** `isCreated`: this attempt created the copy; else it existed. `version` is null if it is unknown. */
export type CopyResult = { readonly isCreated: boolean; readonly version: string | null };

const completeTarget = async (db: Db, target: CopyTarget, now: Date, made: CopyResult): Promise<boolean> => {
  const { tenantRef, template, place } = target;
  const { isCreated, version } = made;
  const versioned = isCreated
    ? sql`created_at = ${now}, template_version = ${version}`
    : sql`template_version = coalesce(d.template_version, ${version})`;
  const statement = sql`
    with tenant as (
      select tenant_ref from ${tenants} where tenant_ref = ${tenantRef} and state <> 'deleted' for share
    )
    update ${dashboards} as d set ${versioned},
      verified_at = ${now}, key_ref = ${place.keyRef}, doubted_at = null,
      failed_at = null, failed_step = null, failure = null, failures = 0
    from tenant
    where d.tenant_ref = tenant.tenant_ref and d.template = ${template} and d.upstream = ${place.upstream}
    returning d.template`;
  const { rows } = await askLedger(statement.execute(db));
  return rows.length > 0;
};

const failTarget = async (db: Db, target: CopyTarget, now: Date, step: string, failure: string): Promise<number> => {
  const row = await askLedger(
    updateOf(db, target)
      // If another attempt makes the copy, or has completed it meanwhile, this is no failure.
      .where('attempt', '=', target.attempt)
      .where(({ or, eb }) => or([eb('verified_at', 'is', null), eb('doubted_at', 'is not', null)]))
      .set(({ eb }) => ({ failed_at: now, failed_step: step, failure, failures: eb('failures', '+', 1) }))
      .returning('failures')
      .executeTakeFirst(),
  );
  return row?.failures ?? 0;
};

const insertLeftover = async (db: Db, target: CopyTarget, now: Date, failure: string): Promise<void> => {
  const { tenantRef, template, dashboardId, place, attempt } = target;
  const left = { failed_at: now, failed_step: 'undo', failure };
  const row = {
    tenant_ref: tenantRef,
    template,
    dashboard_id: dashboardId,
    upstream: place.upstream,
    key_ref: place.keyRef,
    attempt,
    started_at: now,
    created_at: now,
    ...left,
  };
  await askLedger(
    db
      .insertInto('dashboards')
      .values(row)
      .onConflict((conflict) => conflict.columns(['tenant_ref', 'template']).doUpdateSet(left))
      .execute(),
  );
};

const markTemplatesUnverified = async (
  db: Db,
  tenantRef: string,
  templates: readonly string[],
  now: Date,
): Promise<void> => {
  await askLedger(
    db
      .updateTable('dashboards')
      .set({ doubted_at: now })
      .where('tenant_ref', '=', tenantRef)
      .where('template', 'in', templates)
      .execute(),
  );
};

const isVersionOf = async (db: Db, template: string, version: string): Promise<boolean> => {
  const known = db
    .selectFrom('dashboards')
    .select('template')
    .where('template', '=', template)
    .where(({ or, eb, exists, selectFrom }) => {
      const same = selectFrom('template_versions')
        .select('version')
        .whereRef('template_versions.template', '=', 'dashboards.template')
        .whereRef('template_versions.version', '=', 'dashboards.template_version')
        .where('content_version', '=', version);
      return or([eb('template_version', '=', version), exists(same)]);
    });
  return (await askLedger(known.limit(1).execute())).length > 0;
};

const eraseTenant = async (db: Db, tenantRef: string): Promise<number> => {
  const { numDeletedRows } = await askLedger(
    db.deleteFrom('dashboards').where('tenant_ref', '=', tenantRef).executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
};

export type ProvisionLedger = {
  readonly read: (tenantRef: string) => Promise<TenantDashboards>;
  /** Begins an attempt. Returns `deleted` if the tenant is deleted, and `verified` if the copy is verified already. */
  readonly begin: (target: CopyTarget, now: Date) => Promise<PriorState | 'deleted' | 'verified'>;
  /** Claims a copy that was never verified, before it is deleted. Returns false if another attempt is working on it. */
  readonly claim: (target: CopyTarget, now: Date) => Promise<boolean>;
  /** Records the copy as verified. Returns false if the tenant was deleted, or its row changed upstream, meanwhile. */
  readonly complete: (target: CopyTarget, now: Date, made: CopyResult) => Promise<boolean>;
  /** Records a failure. Returns the number of consecutive failures. */
  readonly fail: (target: CopyTarget, now: Date, step: string, failure: string) => Promise<number>;
  /** Marks the copies to be verified again, because the service contradicted their verification. */
  readonly markUnverified: (tenantRef: string, templates: readonly string[], now: Date) => Promise<void>;
  /** Records a dashboard of a deleted tenant that could not be deleted, until it is. */
  readonly recordLeftover: (target: CopyTarget, now: Date, failure: string) => Promise<void>;
  /** Whether any copy was made from this version of the template. */
  readonly isKnownVersion: (template: string, version: string) => Promise<boolean>;
  /** Deletes all rows of a tenant. Returns their number. */
  readonly erase: (tenantRef: string, lock: Pick<Lease, 'write'>) => Promise<number>;
};

export const createProvisionLedger = ({ db, self }: Pick<Ledger, 'db' | 'self'>): ProvisionLedger => {
  const named = (target: CopyTarget): CopyTarget => ({ ...target, attempt: attemptOf({ self }, target) });
  return {
    read: (tenantRef) => readTenant(db, tenantRef),
    begin: (target, now) => beginTarget(db, named(target), now),
    claim: (target, now) => claimTarget(db, named(target), now),
    complete: (target, now, made) => completeTarget(db, target, now, made),
    fail: (target, now, step, failure) => failTarget(db, named(target), now, step, failure),
    markUnverified: (tenantRef, templates, now) => markTemplatesUnverified(db, tenantRef, templates, now),
    recordLeftover: (target, now, failure) => insertLeftover(db, named(target), now, failure),
    isKnownVersion: (template, version) => isVersionOf(db, template, version),
    erase: (tenantRef, { write }) => write((inner) => eraseTenant(inner, tenantRef)),
  };
};
