import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import { refuseConnection } from './database.js';
import type { DriverFault, FaultOf } from './driver-faults.js';

/** `late` and `statement` are no faults of connecting. */
type Fault = Exclude<DriverFault, 'late' | 'statement' | 'names'>;

const notEncrypted =
  'no encrypted connection could be made; check isSsl, and that the server’s certificate is valid for the host.';

const mends: Readonly<Record<Fault, string>> = {
  lost: 'the server does not answer; check host and port, and that it accepts connections from here.',
  busy: 'the server has no free connections or is short of memory or disk; retry shortly.',
  credentials:
    'the server refused the credentials; check username and password, and that this user may connect from here.',
  database: 'the server has no such database for this user; check the database name.',
  settings:
    'the server does not accept the settings that a query needs; it must be a current version, and the user’s profile must have readonly 0 or 2.',
  tls: notEncrypted,
  encryption: notEncrypted,
};

/** DependencyUnavailable for a fault that passes; undefined for any other. */
export const passingFault = (fault: DriverFault | undefined, cause: unknown): DependencyUnavailable | undefined => {
  if (cause instanceof DependencyUnavailable) return cause;
  if (fault === 'lost' || fault === 'tls')
    return new DependencyUnavailable('datasource-lost', 'The datasource does not answer.', cause);
  if (fault !== 'busy') return undefined;
  return new DependencyUnavailable('datasource-exhausted', 'The datasource is short of connections or memory.', cause);
};

const reasons = {
  lost: 'datasource-network',
  busy: 'datasource-exhausted',
  credentials: 'datasource-credentials',
  database: 'datasource-database',
  settings: 'datasource-settings',
  tls: 'datasource-encryption',
  encryption: 'datasource-encryption',
} as const satisfies Readonly<Record<Fault, Reason>>;

/**
 * Translates an error of connecting into DATASOURCE_CONNECTION_ERROR with what to check. A refusal of our own stays
 * as it is.
 */
export const refuseFault = (name: string, cause: unknown, faultOf: FaultOf): never => {
  if (cause instanceof Refusal && cause.cause === undefined) throw cause;
  const told = toldBy(cause);
  const fault = faultOf(told);
  const known = fault === 'late' || fault === 'statement' || fault === 'names' ? undefined : fault;
  const mend = known === undefined ? 'it could not be opened; the cause is in the log.' : mends[known];
  return refuseConnection(
    `Datasource ${name}: ${mend}`,
    known === undefined ? 'datasource-unavailable' : reasons[known],
    passingFault(known, told) ?? told,
  );
};

/** The driver's own error. */
const toldBy = (cause: unknown): unknown => {
  const inner = cause instanceof Refusal ? cause.cause : cause;
  return inner instanceof DependencyUnavailable ? inner.cause : inner;
};
