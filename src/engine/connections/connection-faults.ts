import { Refusal } from '../../domain/refusal.js';
import { DependencyUnavailable } from '../../domain/unavailable.js';
import { refuseConnection } from './database.js';

type Fault = 'network' | 'credentials' | 'database' | 'encryption' | 'settings';

const mends: Readonly<Record<Fault, string>> = {
  network: 'the server does not answer; check host and port, and that it accepts connections from here.',
  credentials:
    'the server refused the credentials; check username and password, and that this user may connect from here.',
  database: 'the server has no such database for this user; check the database name.',
  settings:
    'the server does not accept the settings that a query needs; it must be a current version, and the user’s profile must have readonly 0 or 2.',
  encryption:
    'no encrypted connection could be made; check isSsl, and that the server’s certificate is valid for the host.',
};

const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'PROTOCOL_CONNECTION_LOST',
]);

/** Error codes of OpenSSL and Node for a failed certificate or handshake. */
const encryptionCode = /^(ERR_(TLS|SSL|OSSL)_|HANDSHAKE_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$)/;

/** Whether the server was unreachable or the connection to it broke. */
export const isNetworkFault = (cause: unknown): boolean => networkCodes.has(codeOf(cause));

/**
 * Translates an error of connecting into DATASOURCE_CONNECTION_ERROR with what to check. A refusal of our own stays
 * as it is. `codes` are the server's error codes.
 */
export const refuseFault = (name: string, cause: unknown, codes: ReadonlyMap<string, Fault>): never => {
  if (cause instanceof Refusal && cause.cause === undefined) throw cause;
  const told = toldBy(cause);
  const fault = faultOf(codeOf(told), codes);
  const mend = fault === undefined ? 'it could not be opened; the cause is in the log.' : mends[fault];
  const away = new DependencyUnavailable('datasource-lost', 'The datasource does not answer.', told);
  return refuseConnection(
    `Datasource ${name}: ${mend}`,
    `datasource-${fault ?? 'unavailable'}`,
    fault === 'network' ? away : told,
  );
};

/** The driver's own error. */
const toldBy = (cause: unknown): unknown => {
  const inner = cause instanceof Refusal ? cause.cause : cause;
  return inner instanceof DependencyUnavailable ? inner.cause : inner;
};

const faultOf = (code: string, codes: ReadonlyMap<string, Fault>): Fault | undefined => {
  const own = codes.get(code);
  if (own !== undefined) return own;
  if (networkCodes.has(code)) return 'network';
  return encryptionCode.test(code) ? 'encryption' : undefined;
};

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
