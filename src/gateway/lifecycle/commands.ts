/**
 * Admin commands for one tenant: suspend, resume and delete (like its hooks, with the current time), and the erasure
 * report.
 */
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import type { Audit } from '../audit/audit.js';
import { type AdminCommand, adminCommand, changedBy, declareCommand, readBy } from '../common/admin-command.js';
import { type Erasure, erasureReport } from '../erase/erasure.js';
import type { Ledger } from '../ledger/ledger.js';
import { tenantStates } from '../ledger/tables.js';
import { tenantId } from '../policy/tenant-id.js';
import type { TenantRecords } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';
import { eventAnswer, type Lifecycle } from './lifecycle.js';

export type TenantCommandOptions = {
  readonly tenants: TenantRecords;
  readonly lifecycle: Lifecycle;
  readonly erasure: Erasure;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly clock: Clock;
};

const oneTenant = z.strictObject({ clientId: tenantId });

const erasures = z.object({
  state: z.enum(tenantStates).nullable(),
  isErasureOwed: z.boolean(),
  reports: z.array(erasureReport),
});

export const readErasure = declareCommand('erasure-report', oneTenant, erasures, readBy('support', 'auditor'), {
  title: 'Read an erasure',
  description: 'Reads what the erasure of a tenant deleted.',
});

export const suspendTenant = declareCommand('tenant-suspend', oneTenant, eventAnswer, changedBy('support'), {
  title: 'Suspend a tenant',
  description: 'Refuses all users of a tenant from now on. Nothing is deleted.',
  isDestructive: true,
});

export const resumeTenant = declareCommand('tenant-resume', oneTenant, eventAnswer, changedBy('support'), {
  title: 'Resume a tenant',
  description: 'Lets the users of a suspended tenant in again.',
});

export const deleteTenant = declareCommand('tenant-delete', oneTenant, eventAnswer, changedBy('owner'));

const byHand = [
  [suspendTenant, 'suspended'],
  [resumeTenant, 'resumed'],
  [deleteTenant, 'deleted'],
] as const;

export const createTenantCommands = (options: TenantCommandOptions): readonly AdminCommand[] => {
  const { tenants, lifecycle, erasure, ledger, audit, clock } = options;
  const apply = async (command: string, kind: TenantEventKind, clientId: string) => {
    const answer = await lifecycle.apply({ kind, clientId, occurredAt: clock.now() });
    const whose = answer.state === 'deleted' ? {} : { clientId };
    await audit.record({ kind: 'admin', code: 'OK', ...whose, detail: { command, state: answer.state } });
    return answer;
  };
  const report = adminCommand(readErasure, async ({ clientId }) => {
    const tenant = await tenants.find(clientId);
    return {
      state: tenant?.state ?? null,
      isErasureOwed: tenant?.isErasureOwed ?? false,
      reports: await erasure.list(ledger.refOf(clientId)),
    };
  });
  const changes = byHand.map(([command, kind]) =>
    adminCommand(command, ({ clientId }) => apply(command.name, kind, clientId)),
  );
  return [report, ...changes];
};
