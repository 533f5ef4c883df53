/**
 * Verifies a document that is a JWT (JWS in compact form). Unlike a session it need not say who issued it or when it
 * expires: a webhook is told apart by its event id.
 */
import { isRecord } from '../../model/is-record.js';
import { JwtFault } from './jwt.js';
import { type JwtAlgorithm, type JwtKeys, jwtAlgorithms } from './jwt-keys.js';

export type SignedTextOptions = {
  readonly keys: JwtKeys;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly now: Date;
  readonly toleranceSeconds: number;
};

const headerOf = (text: string): Readonly<Record<string, unknown>> => {
  const [first = '', , , ...more] = text.split('.');
  try {
    const header: unknown = JSON.parse(Buffer.from(first, 'base64url').toString('utf8'));
    if (isRecord(header) && more.length === 0) return header;
  } catch (cause) {
    throw new JwtFault('malformed', cause);
  }
  throw new JwtFault('malformed');
};

/** Returns the payload without its signature, not verified. Throws JwtFault. For tools that have no keys. */
export const readSignedText = (text: string): string => {
  headerOf(text);
  return Buffer.from(text.split('.')[1] ?? '', 'base64url').toString('utf8');
};

/** Refuses what has expired or is not valid yet, if it says so. */
const checkTimes = (payload: string, { now, toleranceSeconds }: SignedTextOptions): void => {
  let claims: unknown;
  try {
    claims = JSON.parse(payload);
  } catch (cause) {
    throw new JwtFault('malformed', cause);
  }
  const { exp, nbf }: Readonly<Record<string, unknown>> = isRecord(claims) ? claims : {};
  const nowSeconds = now.getTime() / 1000;
  if (typeof exp === 'number' && nowSeconds >= exp + toleranceSeconds) throw new JwtFault('expired');
  if (typeof nbf === 'number' && nowSeconds < nbf - toleranceSeconds) throw new JwtFault('not-yet-valid');
};

/** Returns the payload as text. Rejects with JwtFault. */
export const verifySignedText = async (text: string, options: SignedTextOptions): Promise<string> => {
  const { alg, kid = null, ...header } = headerOf(text);
  const algorithm = options.algorithms.find((one) => one === alg && jwtAlgorithms.includes(one));
  if (algorithm === undefined) throw new JwtFault('algorithm-not-allowed');
  if ('crit' in header) throw new JwtFault('critical-extension');
  if (kid !== null && (typeof kid !== 'string' || kid === '' || kid.length > 255)) throw new JwtFault('malformed');
  const keys = await options.keys.find(kid, algorithm);
  const { compactVerify } = await import('jose');
  let fault = new JwtFault('unknown-key');
  for (const key of keys) {
    try {
      const { payload } = await compactVerify(text, key, { algorithms: [algorithm] });
      const verified = new TextDecoder().decode(payload);
      checkTimes(verified, options);
      return verified;
    } catch (error) {
      if (error instanceof JwtFault) throw error;
      fault = new JwtFault('not-verified', error);
    }
  }
  throw fault;
};
