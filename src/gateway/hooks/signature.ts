/**
 * Verifies Standard Webhooks signatures (https://www.standardwebhooks.com). The library computes the signatures. This
 * file checks the time and compares, since the library reads the system clock and accepts only one secret.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';

/** The headers of a hook, not yet verified. */
export type Signed = { readonly id: string; readonly sentAt: Date; readonly signatures: readonly string[] };

export type SignatureOptions = {
  /** A signature with any of these secrets is accepted. There are two while a secret is being replaced. */
  readonly secrets: readonly string[];
  /** Maximum difference between the sender's clock and this one, in either direction. */
  readonly toleranceSeconds: number;
  readonly clock: Clock;
  /** What the names of the three headers begin with. Svix writes `svix`. Default: `webhook`. */
  readonly headers?: 'webhook' | 'svix';
  /** Where the secrets are set, for messages. Default: the variable of the host's hooks. */
  readonly secretsAt?: string;
};

export type Signatures = {
  /** Reads the headers. Throws AUTHENTICATION_ERROR if one is missing or malformed, or if the time differs too much. */
  readonly read: (headers: IncomingHttpHeaders) => Signed;
  /** Throws AUTHENTICATION_ERROR unless one of the secrets signed this body under this id at this time. */
  readonly verify: (signed: Signed, body: string) => Promise<void>;
};

const refuse = (message: string, reason: Reason): never => {
  throw new Refusal('AUTHENTICATION_ERROR', message, { reason });
};

const header = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  return refuse(`The header ${name} is missing: sign the hook according to Standard Webhooks.`, 'hook-header-missing');
};

const maxIdLength = 255;
/** Maximum number of signatures to compare. Further ones are ignored, so that they cost no time. */
const maxSignatures = 16;

const isSame = (given: string, expected: string): boolean => {
  const [left, right] = [Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8')];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Returns the signature that a sender would send: `v1,` and base64. Loads the library at the first hook. */
const sign = async (secret: string, { id, sentAt }: Omit<Signed, 'signatures'>, body: string): Promise<string> => {
  const { Webhook } = await import('standardwebhooks');
  return new Webhook(secret).sign(id, sentAt, body);
};

export const createSignatures = ({
  secrets,
  toleranceSeconds,
  clock,
  headers: prefix = 'webhook',
  secretsAt = 'GUESTLIST_HOOK_SECRETS',
}: SignatureOptions): Signatures => ({
  read: (headers) => {
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
      header(headers, `${prefix}-${name}`),
    ) as [string, string, string];
    if (id.length > maxIdLength) refuse(`${prefix}-id has more than ${maxIdLength} characters.`, 'hook-id-too-long');
    if (!/^\d{1,12}$/.test(timestamp)) {
      refuse(`${prefix}-timestamp is not a time in whole seconds since 1970.`, 'hook-timestamp-malformed');
    }
    const sentAt = new Date(Number(timestamp) * 1000);
    if (Math.abs(clock.now().getTime() - sentAt.getTime()) > toleranceSeconds * 1000) {
      refuse(
        `${prefix}-timestamp is more than ${toleranceSeconds} seconds from now: sign each attempt again, and set the sender's clock.`,
        'hook-timestamp-out-of-tolerance',
      );
    }
    return { id, sentAt, signatures: signature.split(' ').slice(0, maxSignatures) };
  },
  verify: async (signed, body) => {
    const expected = await Promise.all(secrets.map((secret) => sign(secret, signed, body)));
    // Compares every pair, so that the time does not reveal which secret matched.
    const matches = expected.flatMap((each) => signed.signatures.filter((given) => isSame(given, each)));
    if (matches.length === 0) {
      refuse(
        `No signature in ${prefix}-signature matches this body: sign "<${prefix}-id>.<${prefix}-timestamp>.<body>", over the exact bytes that are sent, with a secret of ${secretsAt}.`,
        'hook-signature-wrong',
      );
    }
  },
});
