/**
 * The ledger of dashboards: what was begun, made and verified for each tenant. A row is there before its dashboard is made, so that
 * whoever comes after a crash, or deletes the tenant, knows of it. Every statement that adds to it looks at the tenant's state
 * in itself: nothing is begun or recorded for a deleted tenant. Throws UPSTREAM_UNAVAILABLE where it cannot be asked.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Ledger } from '../ledger/ledger.js';
import { isAlive } from '../ledger/processes.js';
import { schemaName } from '../ledger/tables.js';
import { asked, isVerifiedAt, type Place, readTenant, type TenantDashboards } from './provisioned-rows.js';

/** One copy that is being made. */
export type Target = {
  readonly tenantRef: string;
  readonly clientId: string;
  readonly template: string;
  readonly dashboardId: string;
  readonly place: Place;
  /** Of whoever makes it now. */
  readonly attempt: string;
};

/** What stood there before: `wasVerified`, a guest may have used it since; `isResumed`, it was begun and not brought to its end. */
export type Intent = { readonly wasVerified: boolean; readonly isResumed: boolean };

/** How long the attempt of a process that is alive is left alone, in milliseconds: longer than any call to the upstream takes. */
export const attemptMs = 60_000;

const tenants = sql.table(`${schemaName}.tenants`);
const dashboards = sql.table(`${schemaName}.dashboards`);

/** Names its process, so that the attempt of one that died is taken over at once. */
const attemptOf = ({ self }: Pick<Ledger, 'self'>, { attempt }: Target): string => `${self.id()}/${attempt}`;

const ofDeadProcess = (attempt: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`not ${isAlive(sql`split_part(${sql.ref(attempt)}, '/', 1)`)}`;

/** Takes the tenant's row along, locked: who deletes the tenant waits, or has been first. */
const beginStatement = (target: Target, now: Date) => {
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

const beginTarget = async (db: Db, target: Target, now: Date): Promise<Intent | 'deleted' | 'verified'> => {
  const { rows } = await asked(beginStatement(target, now).execute(db));
  const [mine] = rows;
  if (mine !== undefined) return { wasVerified: mine.wasVerified, isResumed: !mine.isNew && !mine.wasVerified };
  const { state, dashboards: found } = await readTenant(db, target.tenantRef);
  if (state === 'deleted') return 'deleted';
  const row = found.find(({ template }) => template === target.template);
  if (isVerifiedAt(row, target.place)) return 'verified';
  const wasVerified = row !== undefined && row.verifiedAt !== null;
  return { wasVerified, isResumed: !wasVerified };
};

const updateOf = (db: Db, { tenantRef, template, place }: Target) =>
  db
    .updateTable('dashboards')
    .where('tenant_ref', '=', tenantRef)
    .where('template', '=', template)
    .where('upstream', '=', place.upstream);

const claimTarget = async (db: Db, target: Target, now: Date): Promise<boolean> => {
  const { numUpdatedRows } = await asked(
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

/** `isCreated`: here and now; otherwise it was found. The version is null where it is not known. */
export type Made = { readonly isCreated: boolean; readonly version: string | null };

const completeTarget = async (db: Db, target: Target, now: Date, made: Made): Promise<boolean> => {
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
  const { rows } = await asked(statement.execute(db));
  return rows.length > 0;
};

const failTarget = async (db: Db, target: Target, now: Date, step: string, failure: string): Promise<number> => {
  const row = await asked(
    updateOf(db, target)
      // Where another makes it, or has completed it meanwhile, nothing failed.
      .where('attempt', '=', target.attempt)
      .where(({ or, eb }) => or([eb('verified_at', 'is', null), eb('doubted_at', 'is not', null)]))
      .set(({ eb }) => ({ failed_at: now, failed_step: step, failure, failures: eb('failures', '+', 1) }))
      .returning('failures')
      .executeTakeFirst(),
  );
  return row?.failures ?? 0;
};

const leaveTarget = async (db: Db, target: Target, now: Date, failure: string): Promise<void> => {
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
  await asked(
    db
      .insertInto('dashboards')
      .values(row)
      .onConflict((conflict) => conflict.columns(['tenant_ref', 'template']).doUpdateSet(left))
      .execute(),
  );
};

const doubtTemplates = async (db: Db, tenantRef: string, templates: readonly string[], now: Date): Promise<void> => {
  await asked(
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
    .where('template_version', '=', version);
  return (await asked(known.limit(1).execute())).length > 0;
};

const eraseTenant = async (db: Db, tenantRef: string): Promise<number> => {
  const { numDeletedRows } = await asked(
    db.deleteFrom('dashboards').where('tenant_ref', '=', tenantRef).executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
};

export type Provisioned = {
  readonly read: (tenantRef: string) => Promise<TenantDashboards>;
  /** `deleted`: nothing may be made. `verified`: nothing is left to make. */
  readonly begin: (target: Target, now: Date) => Promise<Intent | 'deleted' | 'verified'>;
  /** Before what was never verified is taken away: false where another is at work on it. */
  readonly claim: (target: Target, now: Date) => Promise<boolean>;
  /** False where the tenant was deleted meanwhile, or its rows are others now. */
  readonly complete: (target: Target, now: Date, made: Made) => Promise<boolean>;
  /** Answers how often it failed in a row. */
  readonly fail: (target: Target, now: Date, step: string, failure: string) => Promise<number>;
  /** To be looked at anew: the service said something about them that does not fit. */
  readonly doubt: (tenantRef: string, templates: readonly string[], now: Date) => Promise<void>;
  /** What could not be taken back of a deleted tenant: it stays known until it is. */
  readonly leave: (target: Target, now: Date, failure: string) => Promise<void>;
  /** Whether a copy was ever made of this version of the template. */
  readonly isKnownVersion: (template: string, version: string) => Promise<boolean>;
  /** Forgets all of a tenant's rows; answers how many there were. */
  readonly erase: (tenantRef: string) => Promise<number>;
};

export const createProvisioned = ({ db, self }: Pick<Ledger, 'db' | 'self'>): Provisioned => {
  const named = (target: Target): Target => ({ ...target, attempt: attemptOf({ self }, target) });
  return {
    read: (tenantRef) => readTenant(db, tenantRef),
    begin: (target, now) => beginTarget(db, named(target), now),
    claim: (target, now) => claimTarget(db, named(target), now),
    complete: (target, now, made) => completeTarget(db, target, now, made),
    fail: (target, now, step, failure) => failTarget(db, named(target), now, step, failure),
    doubt: (tenantRef, templates, now) => doubtTemplates(db, tenantRef, templates, now),
    leave: (target, now, failure) => leaveTarget(db, named(target), now, failure),
    isKnownVersion: (template, version) => isVersionOf(db, template, version),
    erase: (tenantRef) => eraseTenant(db, tenantRef),
  };
};
