/**
 * Verifies that a provider sent a delivery: by Standard Webhooks (Svix), an HMAC, a shared header or a JWT. Pure: the
 * time and the keys are handed in. Must not read what the event says.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Reason } from '../../../model/reasons.js';
import { Refusal } from '../../../model/refusal.js';
import { JwtFault } from '../../../platform/keys/jwt.js';
import type { JwtAlgorithm, JwtKeys } from '../../../platform/keys/jwt-keys.js';
import { verifySignedText } from '../../../platform/keys/signed-text.js';
import { createSignatures } from '../signature.js';

/** How far the time of a signature may be from now. */
export type Tolerance = { readonly pastMs: number; readonly futureMs: number };

/** When an HMAC was made. `header` null: the part `t` of the signature's own header. */
type SignedTime = Tolerance & { readonly header: string | null; readonly unitMs: 1 | 1000 };

export type Scheme =
  | { readonly by: 'standard-webhooks'; readonly headers: 'webhook' | 'svix'; readonly toleranceSeconds: number }
  | {
      readonly by: 'hmac';
      readonly header: string;
      /** `parts`: `t=...,v1=...`, where several `v1` may be. `plain`: the signature alone. */
      readonly form: 'parts' | 'plain';
      readonly encoding: 'hex' | 'base64';
      readonly prefix: string;
      /** With a time, `<time>.<body>` is signed. Null: the body alone. */
      readonly time: SignedTime | null;
    }
  | { readonly by: 'bearer'; readonly header: string }
  | { readonly by: 'jwt'; readonly algorithms: readonly JwtAlgorithm[] };

/** A request of a provider, not verified. */
export type Delivery = { readonly text: string; readonly headers: IncomingHttpHeaders };

export type Proof = {
  readonly secrets: readonly string[];
  /** The published keys of a scheme `jwt`. */
  readonly keys: JwtKeys | null;
  readonly now: Date;
  /** Where the secrets are set, for messages. */
  readonly secretsAt: string;
};

const refuse = (message: string, reason: Reason, cause?: unknown): never => {
  throw new Refusal('AUTHENTICATION_ERROR', message, { reason, cause });
};

const headerOf = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  return refuse(`The header ${name} is missing: let the provider send it.`, 'hook-header-missing');
};

/** Digests have one length, so the time of the comparison says nothing about the secret. */
const isSame = (given: string, expected: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));

/** Maximum number of signatures to compare. Further ones are ignored, so that they cost no time. */
const maxSignatures = 16;

type OfHmac = Extract<Scheme, { by: 'hmac' }>;
type Parts = { readonly time: string | null; readonly signatures: readonly string[] };

const partsOf = ({ header, form, prefix, time }: OfHmac, headers: IncomingHttpHeaders): Parts => {
  const value = headerOf(headers, header);
  const own = time?.header == null ? null : headerOf(headers, time.header);
  if (form === 'plain') return { time: own, signatures: value.startsWith(prefix) ? [value.slice(prefix.length)] : [] };
  const pairs = value.split(',').map((pair) => pair.trim().split('=', 2));
  const valuesOf = (name: string) => pairs.flatMap(([key, text = '']) => (key === name ? [text] : []));
  return { time: own ?? valuesOf('t')[0] ?? '', signatures: valuesOf('v1').slice(0, maxSignatures) };
};

const assertTime = (header: string, text: string, { unitMs, pastMs, futureMs }: SignedTime, now: Date): void => {
  if (!/^\d{1,15}$/.test(text)) refuse(`The time in ${header} is not a whole number.`, 'hook-timestamp-malformed');
  const ageMs = now.getTime() - Number(text) * unitMs;
  if (ageMs > pastMs || ageMs < -futureMs) {
    refuse(
      `The time in ${header} is ${ageMs > 0 ? `more than ${pastMs / 1000} seconds ago` : 'in the future'}: set the clocks. The provider signs each attempt anew.`,
      'hook-timestamp-out-of-tolerance',
    );
  }
};

const verifyHmac = (scheme: OfHmac, { text, headers }: Delivery, { secrets, now, secretsAt }: Proof): string => {
  const { header, encoding, time } = scheme;
  const parts = partsOf(scheme, headers);
  if (time !== null) assertTime(time.header ?? header, parts.time ?? '', time, now);
  const signed = time === null ? text : `${parts.time}.${text}`;
  const expected = secrets.map((secret) => createHmac('sha256', secret).update(signed).digest(encoding));
  // Compares every pair, so that the time does not reveal which secret matched.
  const matches = expected.flatMap((each) => parts.signatures.filter((given) => isSame(given, each)));
  if (matches.length > 0) return text;
  return refuse(
    `No signature in ${header} matches this body: copy the provider's signing secret of this endpoint to ${secretsAt}.`,
    'hook-signature-wrong',
  );
};

/** A secret `user:password` may come as Basic, as some dashboards offer nothing else. */
const acceptedOf = (header: string, secret: string): readonly string[] =>
  header === 'authorization'
    ? [`bearer ${secret}`, `basic ${Buffer.from(secret, 'utf8').toString('base64')}`]
    : [secret, `bearer ${secret}`];

const verifyBearer = (header: string, { text, headers }: Delivery, { secrets, secretsAt }: Proof): string => {
  const given = headerOf(headers, header).replace(
    /^(?:bearer|basic) +/i,
    (scheme) => `${scheme.trim().toLowerCase()} `,
  );
  const matches = secrets.flatMap((secret) => acceptedOf(header, secret)).filter((each) => isSame(given, each));
  if (matches.length > 0) return text;
  return refuse(`The header ${header} has not the secret of ${secretsAt}.`, 'hook-signature-wrong');
};

const toleranceSeconds = 300;

const verifyJwt = async (
  algorithms: readonly JwtAlgorithm[],
  { text }: Delivery,
  { keys, now, secretsAt }: Proof,
): Promise<string> => {
  if (keys === null) throw new Error('a provider that sends JWTs has no keys');
  try {
    return await verifySignedText(text.trim(), { keys, algorithms, now, toleranceSeconds });
  } catch (error) {
    if (!(error instanceof JwtFault)) throw error;
    if (error.reason === 'keys-unavailable') {
      throw new Refusal('UPSTREAM_UNAVAILABLE', `The keys at ${secretsAt} cannot be read; the log has the reason.`, {
        reason: 'provider-keys-unavailable',
        cause: error,
      });
    }
    const mend = `the body must be a JWT by a key of ${secretsAt}`;
    const isOld = error.reason === 'expired' || error.reason === 'not-yet-valid';
    return refuse(
      `The body is not accepted (${error.reason}): ${mend}.`,
      isOld ? 'hook-timestamp-out-of-tolerance' : 'hook-signature-wrong',
      error,
    );
  }
};

/** Returns the JSON text of the event. Throws AUTHENTICATION_ERROR, and UPSTREAM_UNAVAILABLE if keys cannot be read. */
export const verifyDelivery = async (scheme: Scheme, delivery: Delivery, proof: Proof): Promise<string> => {
  const { text, headers } = delivery;
  if (scheme.by === 'hmac') return verifyHmac(scheme, delivery, proof);
  if (scheme.by === 'bearer') return verifyBearer(scheme.header, delivery, proof);
  if (scheme.by === 'jwt') return verifyJwt(scheme.algorithms, delivery, proof);
  const { secrets, now, secretsAt } = proof;
  const signatures = createSignatures({ ...scheme, secrets, secretsAt, clock: { now: () => now } });
  await signatures.verify(signatures.read(headers), text);
  return text;
};

/** Returns when the delivery says that it was signed. Null if it does not say, or not as a time. For tools. */
export const signedAt = (scheme: Scheme, headers: IncomingHttpHeaders): Date | null => {
  if (scheme.by !== 'standard-webhooks' && scheme.by !== 'hmac') return null;
  if (scheme.by === 'hmac' && scheme.time === null) return null;
  const unitMs = scheme.by === 'hmac' ? (scheme.time?.unitMs ?? 1000) : 1000;
  const text =
    scheme.by === 'hmac' ? (partsOf(scheme, headers).time ?? '') : headerOf(headers, `${scheme.headers}-timestamp`);
  return /^\d{1,15}$/.test(text) ? new Date(Number(text) * unitMs) : null;
};
