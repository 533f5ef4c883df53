/** The metrics of a gateway. No metric names a tenant or a user, and each label has only a few values. */

/** `refused`: the service refused the request. `failed`: it gave no valid answer. */
export type CallOutcome = 'ok' | 'refused' | 'failed';

export type GatewayMetrics = {
  /** Each request for a token: `cached`, `minted`, or the error code. */
  readonly answered: (outcome: string) => void;
  /** Besides `answered`: the limit that a request exceeded. */
  readonly limited: (limit: string) => void;
  readonly minted: (durationMs: number) => void;
  /** A call to the service, with all its retries. */
  readonly called: (operation: string, outcome: CallOutcome) => void;
  readonly circuitChanged: (state: 'open' | 'closed') => void;
  /** A reading of the policy's files. */
  readonly policyRead: (outcome: 'unchanged' | 'changed' | 'refused') => void;
  readonly audited: (entries: number, outcome: 'kept' | 'failed') => void;
  /** `read` is called whenever the metrics are read. */
  readonly watch: (what: 'auditWaiting' | 'epochsAgeMs', read: () => number) => void;
};

/** Counts nothing. */
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
