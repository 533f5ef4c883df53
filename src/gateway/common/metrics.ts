/** What a gateway counts and shows of itself. Nothing here names a tenant or a user, and no label has more than a few values. */

/** `refused`: the service refused this very request. `failed`: it gave no good answer. */
export type CallOutcome = 'ok' | 'refused' | 'failed';

export type GatewayMetrics = {
  /** To each request for a token: `cached`, `minted`, or the code of the refusal. */
  readonly answered: (outcome: string) => void;
  /** Beside `answered`: which limit a request met. */
  readonly limited: (limit: string) => void;
  readonly minted: (durationMs: number) => void;
  /** Calls with all their tries. */
  readonly called: (operation: string, outcome: CallOutcome) => void;
  readonly circuitChanged: (state: 'open' | 'closed') => void;
  /** A look at the policy's files. */
  readonly policyRead: (outcome: 'unchanged' | 'changed' | 'refused') => void;
  readonly audited: (entries: number, outcome: 'kept' | 'failed') => void;
  /** `read` is asked whenever the metrics are. */
  readonly watch: (what: 'auditWaiting' | 'epochsAgeMs', read: () => number) => void;
};

/** For those who want none. */
export const noGatewayMetrics: GatewayMetrics = {
  answered: () => {},
  limited: () => {},
  minted: () => {},
  called: () => {},
  circuitChanged: () => {},
  policyRead: () => {},
  audited: () => {},
  watch: () => {},
};
