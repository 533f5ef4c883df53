/**
 * Tells the service how many tokens this gateway gave to users, kept ones too. What the service could not be told is kept,
 * and told again; a killed process loses what it has not told yet.
 */
import type { Log } from '../../model/log-events.js';
import type { Clock, Ids } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { createUsageBatches, type UsageCell } from '../../model/usage-batches.js';
import type { Call } from '../../platform/http/interface/client.js';
import { mostReportedLogins, reportLogins } from '../../service/usage/contract.js';
import type { Capabilities } from './capabilities.js';

/** Counts a token that was given to a user. */
export type CountLogin = (of: { readonly clientId: string; readonly userIdentifier: string | null }) => void;

type LoginReports = {
  readonly count: CountLogin;
  /** Tells what was counted. Never rejects, and must not be called while it runs. */
  readonly write: () => Promise<void>;
};

type Parts = {
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'requireCapability'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Pick<Log, 'warn'>;
};

/** A shutdown does not wait longer for the last one. */
const timeoutMs = 5_000;

const loginOf = ({ at, of: { clientId, userIdentifier }, logins }: UsageCell) => ({
  ...{ at: at.toISOString(), clientId: clientId ?? '', userIdentifier, count: logins },
});

const isMissing = (error: unknown): boolean => error instanceof Refusal && error.code === 'NOT_SUPPORTED';

export const createLoginReports = ({ upstream, capabilities, clock, ids, log }: Parts): LoginReports => {
  const batches = createUsageBatches({
    ...{ clock, ids, mostCells: mostReportedLogins },
    hand: async ({ cells, ...batch }) => {
      const told = { ...batch, logins: cells.map(loginOf) };
      await upstream(reportLogins, told, AbortSignal.timeout(timeoutMs));
    },
  });
  let hasCounted = false;
  let isFailing = false;
  const tell = async (): Promise<void> => {
    hasCounted = false;
    try {
      await capabilities.requireCapability('count-logins');
      await batches.write();
      isFailing = false;
    } catch (err) {
      // Another maker's service counts nothing.
      if (isMissing(err)) return batches.drop();
      if (!isFailing)
        log.warn({ event: 'usage.report_failed', err }, 'failed to tell the service of logins; trying again');
      [hasCounted, isFailing] = [true, true];
    }
  };
  return {
    // The service knows the data app by the key.
    count: (of) => {
      hasCounted = true;
      batches.add({ dataAppId: '', ...of, dashboardId: null, metricId: null }, { logins: 1 });
    },
    write: async () => {
      if (hasCounted) await tell();
    },
  };
};
