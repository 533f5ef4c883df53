/** The meters of a gateway. No meter has a tenant or a user as a label, and each label has only a few values. */

/** The outcome of a call. `refused`: the service refused the request. `failed`: the service gave no valid response. */
export type CallOutcome = 'ok' | 'refused' | 'failed';

/** Long work of the gateway that any process continues if the one that began it cannot. */
export type WorkKind = 'rollout' | 'provisioning' | 'erasure' | 'revocation';

export type GatewayMeters = {
  /** Counts each request for a token by outcome: `cached`, `minted`, or the error code. */
  readonly answered: (outcome: string) => void;
  /** Counts, in addition to `answered`, the limit that a request exceeded. */
  readonly limited: (limit: string) => void;
  readonly minted: (durationMs: number) => void;
  /** Counts a call to the service. All retries of a call count as one. */
  readonly called: (operation: string, outcome: CallOutcome) => void;
  readonly circuitChanged: (state: 'open' | 'closed') => void;
  /** Counts each read of the policy's files. */
  readonly policyRead: (outcome: 'unchanged' | 'changed' | 'refused') => void;
  readonly audited: (entries: number, outcome: 'kept' | 'failed') => void;
  /** Sets how much work of a kind waits to be continued, and for how many seconds the oldest has waited. */
  readonly unfinished: (kind: WorkKind, count: number, seconds: number) => void;
  /** Registers a gauge. `read` is called whenever the meters are read. */
  readonly watch: (what: 'auditWaiting' | 'epochsAgeMs', read: () => number) => void;
};

/** Meters that count nothing. */
export const noGatewayMeters: GatewayMeters = {
  answered: () => {},
  limited: () => {},
  minted: () => {},
  called: () => {},
  circuitChanged: () => {},
  policyRead: () => {},
  audited: () => {},
  unfinished: () => {},
  watch: () => {},
};
