/**
 * Posts messages to channels, and says what the receiver answered. Connects only to addresses that were checked, and
 * follows no redirect, so neither a changed name nor the receiver can send a message elsewhere.
 */
import type { lookup as systemLookup } from 'node:dns';
import type { Clock } from '../model/ports.js';
import { Barred, postTo } from '../platform/calls/outgoing.js';
import type { Channel } from '../platform/config/channels.js';

/**
 * `taken`, `refused`, `unreachable` and `unanswered` as of a mail server. `barred`: the name of the receiver leads to an
 * address that may not be reached. Nothing was sent.
 */
export type PostOutcome =
  | { readonly kind: 'refused'; readonly isFinal: boolean; readonly status: number }
  | { readonly kind: 'taken' | 'unreachable' | 'unanswered' | 'barred' };

/** `id` is the same for every attempt, so that a receiver can recognise a repeated message. */
export type Posting = { readonly id: string; readonly body: string };

export type Post = (channel: Channel, posting: Posting) => Promise<PostOutcome>;

export type PostOptions = {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Resolves names. Left out: the system does. */
  readonly lookup?: typeof systemLookup;
  /** Certificates to trust, for tests. Left out: those of the system. */
  readonly ca?: string;
};

const signaturesOf = async (
  secrets: readonly string[],
  { id, body }: Posting,
  now: Date,
): Promise<Record<string, string>> => {
  // Loaded at the first message: most installations have no channel.
  const { Webhook } = await import('standardwebhooks');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
};

/** Answers that say that a later attempt may succeed. */
const isForNow = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

const outcomeOf = (status: number): PostOutcome =>
  status >= 200 && status < 300 ? { kind: 'taken' } : { kind: 'refused', isFinal: !isForNow(status), status };

const send = (
  { timeoutMs, lookup, ca }: PostOptions,
  channel: Channel,
  body: string,
  headers: Record<string, string>,
): Promise<PostOutcome> =>
  new Promise((resolve) => {
    const isTls = channel.url.startsWith('https:');
    let hasBegun = false;
    const request = postTo(channel, { headers, signal: AbortSignal.timeout(timeoutMs), lookup, ca });
    request.on('socket', (socket) => {
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        hasBegun = true;
      });
    });
    request.on('response', (response) => {
      // Its text is of no use, and may be endless.
      response.destroy();
      resolve(outcomeOf(response.statusCode ?? 0));
    });
    request.on('error', (error) => {
      if (error instanceof Barred) resolve({ kind: 'barred' });
      else resolve({ kind: hasBegun ? 'unanswered' : 'unreachable' });
    });
    request.end(body);
  });

/** Never rejects for what the receiver does. */
export const createPost =
  (options: PostOptions): Post =>
  async (channel, posting) => {
    const { secrets } = channel;
    const signature = secrets.length === 0 ? {} : await signaturesOf(secrets, posting, options.clock.now());
    const length = String(Buffer.byteLength(posting.body));
    const headers = { 'content-type': 'application/json', 'content-length': length, ...signature };
    return send(options, channel, posting.body, headers).catch((error: unknown) => {
      if (error instanceof Barred) return { kind: 'barred' };
      throw error;
    });
  };
