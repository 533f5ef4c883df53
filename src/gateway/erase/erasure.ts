/**
 * Erases a tenant in all storages, and reports the erased data for each. Each step is stored when it is done, so a
 * repeated erasure keeps the numbers of the interrupted one. The tenant's clientId is deleted last.
 */

import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import type { Unchanging } from '../../platform/http/interface/callable.js';
import type { Erased, Eraser, ErasureSubject } from '../common/eraser.js';
import type { TenantLeases } from '../lease/tenant-lease.js';
import type { TenantLock } from '../lease/tenant-lock.js';
import { raiseEpochs } from '../ledger/epochs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ErasureStep, LedgerTables } from '../ledger/tables.js';
import { tenantScopeOf } from '../revocation/scopes.js';

/** The report of an erasure. It contains no tenant name: the caller reads it by clientId. */
export const erasureReport = z.object({
  deletedAt: z.string(),
  startedAt: z.string(),
  /** Null while some storage could not be reached. */
  finishedAt: z.string().nullable(),
  steps: z.array(z.object({ where: z.string(), erased: z.record(z.string(), z.number()), left: z.array(z.string()) })),
  /** Whether all data of the tenant is erased. */
  isComplete: z.boolean(),
});
export type ErasureReport = Unchanging<z.output<typeof erasureReport>>;

export type Erasure = {
  /**
   * Runs the erasure. Call it under the tenant's lock. Rejects if a storage could not be reached; then it may be called
   * again. `before` is a step that the caller has already done, for the report.
   */
  readonly run: (
    subject: ErasureSubject,
    deletedAt: Date,
    lock: TenantLock,
    before: ErasedBefore,
  ) => Promise<ErasureReport>;
  /** Returns the reports of a tenant, newest first. */
  readonly list: (tenantRef: string) => Promise<readonly ErasureReport[]>;
};

export type ErasedBefore = { readonly where: string; readonly erased: Erased };

export type ErasureOptions = {
  readonly ledger: Ledger;
  /** The erasers, in order of execution. */
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

/** Adds the numbers of a repeated step to those of the earlier attempt. `left` comes from the later attempt. */
const withStep = (steps: readonly ErasureStep[], where: string, { erased, left = [] }: Erased) => {
  const before = steps.find((step) => step.where === where)?.erased ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(erased)])];
  const sums = Object.fromEntries(names.map((name) => [name, (before[name] ?? 0) + (erased[name] ?? 0)]));
  return [...steps.filter((step) => step.where !== where), { where, erased: sums, left }];
};

/**
 * Deletes the tenant's clientId, unless the tenant has signed up again. Changes nothing if the tenant was deleted again
 * meanwhile.
 */
const finish = ({ write }: TenantLock, tenantRef: string, deletedAt: Date, now: Date) =>
  write(async (inner) => {
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
  const begin = ({ write }: TenantLock, tenantRef: string, deletedAt: Date) =>
    write(async (inner) => {
      const key = { tenant_ref: tenantRef, deleted_at: deletedAt };
      await inner
        .insertInto('erasures')
        .values({ ...key, started_at: clock.now(), steps: '[]' })
        .onConflict((conflict) => conflict.columns(['tenant_ref', 'deleted_at']).doNothing())
        .execute();
      const own = inner.selectFrom('erasures').selectAll().where('tenant_ref', '=', tenantRef);
      return (await own.where('deleted_at', '=', deletedAt).executeTakeFirstOrThrow()).steps;
    });
  const note = ({ write }: TenantLock, tenantRef: string, deletedAt: Date, steps: readonly ErasureStep[]) =>
    write((inner) =>
      inner
        .updateTable('erasures')
        .set({ steps: JSON.stringify(steps) })
        .where('tenant_ref', '=', tenantRef)
        .where('deleted_at', '=', deletedAt)
        .execute(),
    );
  return {
    run: async (subject, deletedAt, lock, before) => {
      const { tenantRef } = subject;
      await leases.assertNoLease(tenantRef);
      let steps = withStep(await begin(lock, tenantRef, deletedAt), before.where, before.erased);
      for (const { where, erase } of erasers) {
        await lock.assertHeld();
        steps = withStep(steps, where, await erase(subject, lock));
        await note(lock, tenantRef, deletedAt, steps);
      }
      return reportOf(await finish(lock, tenantRef, deletedAt, clock.now()));
    },
    list: async (tenantRef) => {
      const rows = db.selectFrom('erasures').selectAll().where('tenant_ref', '=', tenantRef);
      return (await rows.orderBy('deleted_at', 'desc').execute()).map(reportOf);
    },
  };
};
