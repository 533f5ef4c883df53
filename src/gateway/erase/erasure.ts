/**
 * Erases a tenant everywhere, and reports what was erased where. Each step is stored when it is done, so a repeated erasure
 * keeps the figures of the interrupted one. The tenant's clientId is deleted last.
 */
import type { Selectable } from 'kysely';
import type { Clock } from '../../domain/ports.js';
import type { Erased, Eraser, ErasureSubject } from '../common/eraser.js';
import type { TenantLeases } from '../lease/tenant-lease.js';
import type { TenantLock } from '../lease/tenant-lock.js';
import { raiseEpochs } from '../ledger/epochs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ErasureStep, LedgerTables } from '../ledger/tables.js';
import { tenantScopeOf } from '../revocation/scopes.js';

/** Names no tenant: it is read by clientId. */
export type ErasureReport = {
  readonly deletedAt: string;
  readonly startedAt: string;
  /** Null: some places could not be reached yet. */
  readonly finishedAt: string | null;
  readonly steps: readonly ErasureStep[];
  /** Whether no data of the tenant is left anywhere. */
  readonly isComplete: boolean;
};

export type Erasure = {
  /**
   * Call it under the tenant's lock. Rejects if a place could not be reached; it may then be called again. `before`: what the
   * caller erased already, to be part of the report.
   */
  readonly run: (
    subject: ErasureSubject,
    deletedAt: Date,
    lock: TenantLock,
    before: ErasedBefore,
  ) => Promise<ErasureReport>;
  /** The newest first. */
  readonly list: (tenantRef: string) => Promise<readonly ErasureReport[]>;
};

export type ErasedBefore = { readonly where: string; readonly erased: Erased };

export type ErasureOptions = {
  readonly ledger: Ledger;
  /** In this order. */
  readonly erasers: readonly Eraser[];
  readonly leases: TenantLeases;
  readonly clock: Clock;
};

const reportOf = (row: Selectable<LedgerTables['erasures']>): ErasureReport => ({
  deletedAt: row.deleted_at.toISOString(),
  startedAt: row.started_at.toISOString(),
  finishedAt: row.finished_at?.toISOString() ?? null,
  steps: row.steps,
  isComplete: row.finished_at !== null && row.steps.every(({ left }) => left.length === 0),
});

/** Adds the figures of a repeated step to those of the earlier attempt; `left` is that of the later attempt. */
const withStep = (steps: readonly ErasureStep[], where: string, { erased, left = [] }: Erased) => {
  const before = steps.find((step) => step.where === where)?.erased ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(erased)])];
  const sums = Object.fromEntries(names.map((name) => [name, (before[name] ?? 0) + (erased[name] ?? 0)]));
  return [...steps.filter((step) => step.where !== where), { where, erased: sums, left }];
};

/** Deletes the tenant's clientId, unless the tenant signed up again. Changes nothing if it was deleted once more meanwhile. */
const finish = (db: Ledger['db'], tenantRef: string, deletedAt: Date, now: Date) =>
  db.transaction().execute(async (inner) => {
    const deleted = inner
      .updateTable('tenants')
      .where('tenant_ref', '=', tenantRef)
      .where('deleted_at', '=', deletedAt);
    await deleted.set({ is_erasure_owed: false, updated_at: now }).execute();
    await deleted.where('state', '=', 'deleted').set({ client_id: null }).execute();
    await raiseEpochs(inner, { scopes: [tenantScopeOf(tenantRef)], revokedAt: null });
    return inner
      .updateTable('erasures')
      .where('tenant_ref', '=', tenantRef)
      .where('deleted_at', '=', deletedAt)
      .set({ finished_at: now })
      .returningAll()
      .executeTakeFirstOrThrow();
  });

export const createErasure = ({ ledger, erasers, leases, clock }: ErasureOptions): Erasure => {
  const { db } = ledger;
  const begin = async (tenantRef: string, deletedAt: Date) => {
    const key = { tenant_ref: tenantRef, deleted_at: deletedAt };
    await db
      .insertInto('erasures')
      .values({ ...key, started_at: clock.now(), steps: '[]' })
      .onConflict((conflict) => conflict.columns(['tenant_ref', 'deleted_at']).doNothing())
      .execute();
    const own = db.selectFrom('erasures').selectAll().where('tenant_ref', '=', tenantRef);
    return (await own.where('deleted_at', '=', deletedAt).executeTakeFirstOrThrow()).steps;
  };
  const note = (tenantRef: string, deletedAt: Date) =>
    db.updateTable('erasures').where('tenant_ref', '=', tenantRef).where('deleted_at', '=', deletedAt);
  return {
    run: async (subject, deletedAt, lock, before) => {
      const { tenantRef } = subject;
      await leases.assertNoLease(tenantRef);
      let steps = withStep(await begin(tenantRef, deletedAt), before.where, before.erased);
      for (const { where, erase } of erasers) {
        await lock.assertHeld();
        steps = withStep(steps, where, await erase(subject));
        await note(tenantRef, deletedAt)
          .set({ steps: JSON.stringify(steps) })
          .execute();
      }
      await lock.assertHeld();
      return reportOf(await finish(db, tenantRef, deletedAt, clock.now()));
    },
    list: async (tenantRef) => {
      const rows = db.selectFrom('erasures').selectAll().where('tenant_ref', '=', tenantRef);
      return (await rows.orderBy('deleted_at', 'desc').execute()).map(reportOf);
    },
  };
};
