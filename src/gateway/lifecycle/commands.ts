/**
 * Admin commands for one tenant: suspend, resume and delete (like its hooks, with the current time), and the erasure
 * report.
 */
import { z } from 'zod';
import type { Clock } from '../../domain/ports.js';
import type { Audit } from '../audit/audit.js';
import { type AdminCommand, adminCommand } from '../common/admin-command.js';
import type { Erasure } from '../erase/erasure.js';
import type { Ledger } from '../ledger/ledger.js';
import type { TenantRecords } from '../tenant/records.js';
import type { TenantEventKind } from '../tenant/state.js';
import type { Lifecycle } from './lifecycle.js';

export type TenantCommandOptions = {
  readonly tenants: TenantRecords;
  readonly lifecycle: Lifecycle;
  readonly erasure: Erasure;
  readonly ledger: Ledger;
  readonly audit: Audit;
  readonly clock: Clock;
};

const oneTenant = z.strictObject({ clientId: z.string().min(1).max(255) });

const byHand = { 'tenant-suspend': 'suspended', 'tenant-resume': 'resumed', 'tenant-delete': 'deleted' } as const;

export const createTenantCommands = (options: TenantCommandOptions): readonly AdminCommand[] => {
  const { tenants, lifecycle, erasure, ledger, audit, clock } = options;
  const apply = async (command: string, kind: TenantEventKind, clientId: string) => {
    const answer = await lifecycle.apply({ kind, clientId, occurredAt: clock.now() });
    const whose = answer.state === 'deleted' ? {} : { clientId };
    await audit.record({ kind: 'admin', code: 'OK', ...whose, detail: { command, state: answer.state } });
    return answer;
  };
  const report = adminCommand('erasure-report', oneTenant, async ({ clientId }) => {
    const tenant = await tenants.find(clientId);
    return {
      state: tenant?.state ?? null,
      isErasureOwed: tenant?.isErasureOwed ?? false,
      reports: await erasure.list(ledger.refOf(clientId)),
    };
  });
  const changes = Object.entries(byHand).map(([name, kind]) =>
    adminCommand(name, oneTenant, ({ clientId }) => apply(name, kind, clientId)),
  );
  return [report, ...changes];
};
