/**
 * What an error of a database's driver means. Each database has one table of its codes, `databases/<name>/faults.ts`;
 * nothing else compares a driver's codes.
 */
import { malformedCode } from '../../platform/addresses/answer-guard.js';

/**
 * Passing: `lost` (no connection, or it broke: another one may serve at once), `tls` (its encryption broke: the bytes
 * were damaged, or the other side began no encryption) and `busy` (the server is full, starts, or lacks memory: the same
 * may succeed later). `late`: the statement reached its time limit. The author's: `statement`
 * (functions or types that the database refuses whatever the rows are), and `names` (tables or columns that it does not
 * have or does not show: they may have changed since the catalog was read). The datasource's settings: `credentials`,
 * `database`, `settings` and `encryption` (a server without any, or with a certificate that is not valid). An error that no table names is ours.
 */
export type DriverFault =
  | 'lost'
  | 'tls'
  | 'busy'
  | 'late'
  | 'statement'
  | 'names'
  | 'credentials'
  | 'database'
  | 'settings'
  | 'encryption';

export type FaultOf = (cause: unknown) => DriverFault | undefined;

/** The codes of one database. */
export type FaultCodes = Readonly<Partial<Record<DriverFault, readonly (string | number)[]>>>;

/** Codes of Node and of drivers for a connection that was not made or broke. */
const lostCodes: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'HANDSHAKE_UNKNOWN_ERROR',
  malformedCode,
];

/** Codes of Node and of drivers for a certificate that is not valid, and for a server without encryption. */
const encryptionCode = /^(ERR_TLS_(CERT|REFUSED)|ERR_OSSL_|HANDSHAKE_NO_SSL|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
/** Codes of OpenSSL, Node and drivers for bytes that are no answer in TLS. */
const tlsCode = /^(ERR_(TLS|SSL)_|HANDSHAKE_|EPROTO$)/;

const propertyOf = (cause: unknown, name: 'code' | 'errno'): string => {
  if (typeof cause !== 'object' || cause === null) return '';
  const value: unknown = Reflect.get(cause, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

export const codeOf = (cause: unknown): string => propertyOf(cause, 'code');

/** Reads the table: an error is found by its code, or by its number where the database has both. */
export const createFaultOf = (codes: FaultCodes): FaultOf => {
  const faults = new Map<string, DriverFault>(lostCodes.map((code) => [code, 'lost']));
  for (const [fault, listed = []] of Object.entries(codes) as [DriverFault, FaultCodes[DriverFault]][])
    for (const code of listed) faults.set(String(code), fault);
  return (cause) => {
    const code = codeOf(cause);
    const known = faults.get(code) ?? faults.get(propertyOf(cause, 'errno'));
    if (known !== undefined) return known;
    if (encryptionCode.test(code)) return 'encryption';
    return tlsCode.test(code) ? 'tls' : undefined;
  };
};

/** A driver's error without a code: it reports by it that the connection ended, and by nothing else. */
export const isPlainError = (cause: unknown): boolean =>
  cause instanceof Error && cause.constructor === Error && !('code' in cause);
