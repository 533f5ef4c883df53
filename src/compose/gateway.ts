/** Opens a gateway with all that it does beside its requests: its ledger, its audit and its policy. Used by the product and by the library. */

import { forgetExplanations } from '../gateway/audit/append.js';
import type { AuditEvent } from '../gateway/audit/audit.js';
import { keepPolicyText } from '../gateway/audit/commands.js';
import { type AuditLog, createAudit } from '../gateway/audit/ledger.js';
import { type Ledger, type LedgerTables, openLedger } from '../gateway/ledger/ledger.js';
import type { Policy } from '../gateway/policy/load.js';
import { watchPolicies } from '../gateway/policy/watch.js';
import type { Gateway } from '../gateway/router.js';
import type { Database } from '../platform/database.js';
import { createGateway, type GatewayParts, type HostSessions, type SignedSessions } from './create-gateway.js';

export type OpenedGateway = { readonly router: Gateway; readonly close: () => Promise<void> };

/** What is opened here is left out. */
export type OpenOptions = (SignedSessions | HostSessions) &
  Omit<GatewayParts, 'ledger' | 'audit' | 'policies'> & {
    readonly database: Database;
    /** Path of the policy file. */
    readonly policyPath: string;
    /** How long what a request was decided on is kept for `policy explain --request`. */
    readonly explanationDays: number;
    /** Put down before anything else. */
    readonly firstEvents?: readonly AuditEvent[];
  };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Removes old explanations now and every hour. */
const startForgetting = (ledger: Ledger, { clock, log, explanationDays }: OpenOptions): (() => Promise<void>) => {
  const forget = async (): Promise<void> => {
    try {
      await forgetExplanations(ledger, new Date(clock.now().getTime() - explanationDays * dayMs));
    } catch (err) {
      log.warn({ err }, 'old explanations could not be removed; it is tried again in an hour');
    }
  };
  let running = forget();
  const timer = setInterval(() => {
    running = running.then(forget);
  }, hourMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
};

/** Rejects where the policy, the options or the database could not work. */
export const openGateway = async (options: OpenOptions): Promise<OpenedGateway> => {
  const { database, clock, log, metrics } = options;
  const ledger = await openLedger(database.connect<LedgerTables>(), database.kind === 'postgres');
  const audit: AuditLog = createAudit({ ledger, clock, log, metrics });
  const keep = (policy: Policy) => keepPolicyText(ledger, policy, clock.now());
  const begin = async () => {
    for (const event of options.firstEvents ?? []) await audit.record(event);
    return watchPolicies(options.policyPath, { audit, log, keep, metrics });
  };
  const policies = await begin().catch(async (error: unknown) => {
    await audit.close();
    throw error;
  });
  const endForgetting = startForgetting(ledger, options);
  const router = createGateway({ ...options, ledger, audit, policies });
  const closeRouter = router.close;
  return {
    router,
    close: async () => {
      policies.close();
      await closeRouter();
      await endForgetting();
      await audit.close();
    },
  };
};
