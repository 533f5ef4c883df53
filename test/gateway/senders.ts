/** Sends hooks as a host does, signed by the Standard Webhooks library. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { EventAnswer } from '../../src/gateway/lifecycle/lifecycle.js';
import type { TenantEventKind } from '../../src/gateway/tenant/state.js';

export const createHookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const hookSecret = createHookSecret();

export type SentHook = {
  readonly id?: string;
  /** Default: the clock's time. */
  readonly sentAt?: Date;
  readonly secret?: string;
  /** Replaces the usual headers. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type HookAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: EventAnswer | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
};

/** Creates a sender to the gateway at `url`. A `body` that is text is sent unchanged. */
export const createSender =
  (url: string, now: () => Date) =>
  async (kind: TenantEventKind, body: unknown, sent: SentHook = {}): Promise<HookAnswer> => {
    const { id = randomUUID(), sentAt = now(), secret = hookSecret, headers = {} } = sent;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${url}/hooks/tenant-${kind}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, sentAt, text),
        ...headers,
      },
      body: text,
    });
    const answer = (await response.json()) as Pick<HookAnswer, 'data' | 'error'>;
    return {
      status: response.status,
      headers: response.headers,
      data: answer.data,
      error: answer.error ?? undefined,
    };
  };
export type SendHook = ReturnType<typeof createSender>;

/** Sends the hook again until it is accepted, as a host's sender does. */
export const sendUntilTaken = async (
  send: SendHook,
  kind: TenantEventKind,
  body: unknown,
  sent: SentHook = {},
): Promise<HookAnswer> => {
  const id = sent.id ?? randomUUID();
  for (let attempts = 0; attempts < 300; attempts += 1) {
    const answer = await send(kind, body, { ...sent, id });
    if (answer.status !== 503) return answer;
    if (answer.headers.get('retry-after') === null) throw new Error('a 503 without Retry-After');
  }
  throw new Error(`tenant-${kind} was never taken`);
};
