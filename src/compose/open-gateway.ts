/** Opens one gateway with its ledger, audit and policies. The product and the library use it. */
import type { Audit, AuditEvent } from '../gateway/audit/audit.js';
import { keepPolicyText } from '../gateway/audit/commands.js';
import { type AuditLog, createAudit } from '../gateway/audit/writer.js';
import { type LedgerTables, openLedger } from '../gateway/ledger/ledger.js';
import type { Policy } from '../gateway/policy/policy.js';
import { createReachOf } from '../gateway/policy/reach.js';
import { watchPolicies } from '../gateway/policy/watch.js';
import { type LedgerTimes, ledgerRetention } from '../gateway/retention/kinds.js';
import type { Gateway } from '../gateway/router.js';
import { assertCanKnowTenants } from '../gateway/tenant/known.js';
import { fixedCapabilities } from '../gateway/upstream/capabilities.js';
import type { Database } from '../platform/databases/database.js';
import type { Log } from '../platform/logs/log.js';
import { closeAll, createClosers } from '../platform/work/close-all.js';
import { startSweeps } from '../platform/work/retention.js';
import { type CommonOptions, composeGateway, type HostSessions, type SignedSessions } from './gateway.js';

export type OpenedGateway = { readonly router: Gateway; readonly audit: Audit; readonly close: () => Promise<void> };

export type OpenGatewayOptions = (SignedSessions | HostSessions) &
  Omit<CommonOptions, 'ledger' | 'audit' | 'policies'> & {
    readonly database: Database;
    /** Path of the policy file. */
    readonly policyPath: string;
    /** How long the ledger keeps something. */
    readonly times: LedgerTimes;
    /** Audit entries to write before all others. */
    readonly firstEvents?: readonly AuditEvent[];
  };

/** Rejects if the policy, the options or the database does not work. */
export const openGateway = async (options: OpenGatewayOptions): Promise<OpenedGateway> => {
  const { database, clock, log, meters } = options;
  const ledger = await openLedger(database.connect<LedgerTables>(), database.kind === 'postgres');
  const audit: AuditLog = createAudit({ ledger, clock, log, meters });
  const keep = (policy: Policy) => keepPolicyText(ledger, policy, clock.now());
  const begin = async () => {
    for (const event of options.firstEvents ?? []) await audit.record(event);
    const reachOf = createReachOf(options.policyMayRead ?? null, options.policyPath);
    return watchPolicies(options.policyPath, { audit, log, keep, meters, reachOf });
  };
  const policies = await begin().catch(async (error: unknown) => {
    await closeFailedStart(audit.close, log);
    throw error;
  });
  const { stop: stopSweeps } = startSweeps({ ...ledgerRetention(ledger, options.times), clock, log });
  const closers = createClosers();
  const close = () => closeAll([policies.close, closers.close, stopSweeps, audit.close]);
  try {
    await assertCanKnowTenants(policies.current(), options.upstream.capabilities ?? fixedCapabilities([]));
    return {
      router: composeGateway({ ...options, ledger, audit, policies, isCheckingNames: true }, closers),
      audit,
      close,
    };
  } catch (error) {
    await closeFailedStart(close, log);
    throw error;
  }
};

/** Closes what a failed start has opened. The start's own error is the one to report, so a failure is only logged. */
const closeFailedStart = (close: () => Promise<void>, log: Log): Promise<void> =>
  close().catch((err: unknown) =>
    log.error({ event: 'start.cleanup_failed', err }, 'failed to close what a failed start had opened'),
  );
