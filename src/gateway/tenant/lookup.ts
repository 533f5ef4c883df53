/**
 * Looks up the tenants of a key at the host. Sends a POST of `{"keys": [...]}` to the policy's URL, signed as in
 * Standard Webhooks, and expects status 200 with `{"tenants": [...]}`. An empty list is valid. Caches responses for the
 * time that the policy sets.
 */
import { randomUUID } from 'node:crypto';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { Barred, postTo, readText } from '../../platform/calls/outgoing.js';
import type { Log } from '../../platform/logs/log.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import { maxClaimList } from '../policy/expression-cost.js';
import type { TenantHttp } from '../policy/tenant-rule.js';

export type TenantLookupOptions = {
  readonly http: TenantHttp;
  /** The secret in the format of Standard Webhooks: `whsec_` and base64. */
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** Returns the tenants of keys. */
export type FindTenants = (keys: readonly string[]) => readonly string[] | Promise<readonly string[]>;

/** Returns the tenants of all these keys. Not a promise if they are cached. Rejects with UPSTREAM_UNAVAILABLE. */
export type TenantLookup = FindTenants & {
  /** Deletes the cached responses that contain the client. */
  readonly forget: ForgetClient;
};

type Tenants = readonly string[];
type Known = {
  readonly tenants: Tenants;
  readonly askedAtMs: number;
  readonly freshUntilMs: number;
  readonly staleUntilMs: number;
};

const maxAnswerBytes = 128 * 1024;
/** Maximum number of concurrent requests to the host. Further ones are refused at once. */
const maxUnderWay = 64;
/** After a failure, time in milliseconds during which stale responses are used and the host is not called. */
const restMs = 1_000;

/** The format of the tenants in a host's response. */
export const lookupAnswer = z.array(z.string()).max(maxClaimList);
const answerShape = z.object({ tenants: lookupAnswer });

const unavailable = (reason: Reason, cause?: unknown): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The host application could not say which organisation this user belongs to. Try again shortly; the gateway's log has the reason.",
    { reason, cause },
  );

/** Decodes the host's response. Its errors must not contain any part of the response, because errors are logged. */
const decodeAnswer = (status: number, text: string): Tenants => {
  if (status !== 200) throw new Error(`the tenant lookup answered with status ${status}`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The parser's error would quote the text. The undefined body is refused below.
    body = undefined;
  }
  const result = answerShape.safeParse(body);
  if (result.success) return result.data.tenants;
  throw new Error(`the tenant lookup answered something else than {"tenants": [up to ${maxClaimList} strings]}`);
};

const readCause = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error('the tenant lookup failed');
  if (error instanceof Barred) {
    const mend = 'set allowPrivateAddresses for it in gateway.policyMayRead.lookups if it is of your own network';
    return new Error(`the tenant lookup has an address that may not be reached: ${mend}`, { cause: error });
  }
  if (error.name === 'AbortError') return new Error('the tenant lookup did not answer in time', { cause: error });
  const code = 'code' in error ? String(error.code) : undefined;
  return code === undefined ? error : new Error(`the tenant lookup cannot be reached (${code})`, { cause: error });
};

const answerTo = (request: ClientRequest, body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject).end(body);
  });

const createAsk = ({ http, secret, clock }: TenantLookupOptions) => {
  const Agent = http.url.startsWith('https:') ? HttpsAgent : HttpAgent;
  const agent = new Agent({ keepAlive: true });
  const send = async (body: string): Promise<Tenants> => {
    // Loaded on first use: most policies have no lookup.
    const { Webhook } = await import('standardwebhooks');
    const id = `msg_${randomUUID()}`;
    const now = clock.now();
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    };
    const signal = AbortSignal.timeout(http.timeoutMs);
    const response = await answerTo(postTo(http, { headers, signal, agent }), body);
    return decodeAnswer(response.statusCode ?? 0, await readText({ body: response }, maxAnswerBytes));
  };
  let underWay = 0;
  return async (keys: readonly string[]): Promise<Tenants> => {
    if (underWay >= maxUnderWay) throw new Error(`${maxUnderWay} tenant lookups are under way already`);
    underWay += 1;
    try {
      return await send(JSON.stringify({ keys }));
    } finally {
      underWay -= 1;
    }
  };
};

/** Logs the first failure of an outage and its end. Omits the query of the URL. */
const createOutageLog = ({ http, log }: TenantLookupOptions) => {
  const { origin, pathname } = new URL(http.url);
  const url = `${origin}${pathname}`;
  let isDown = false;
  return (error: unknown): void => {
    if (error !== undefined && !isDown)
      log.error({ event: 'tenant_lookup.failed', url, err: error }, 'the tenant lookup of the host fails');
    if (error === undefined && isDown)
      log.info({ event: 'tenant_lookup.recovered', url }, 'the tenant lookup of the host answers again');
    isDown = error !== undefined;
  };
};

/** Creates the lookup of one policy, with its own cache. Concurrent requests for the same keys share one call. */
export const createTenantLookup = (options: TenantLookupOptions): TenantLookup => {
  const { http, clock } = options;
  const known = createLru<string, Known>(http.maxEntries);
  const flights = createSingleFlight<Tenants>();
  const ask = createAsk(options);
  const said = createOutageLog(options);
  let failedAtMs = Number.NEGATIVE_INFINITY;
  const isBetween = (nowMs: number, from: number, until: number): boolean => nowMs >= from && nowMs < until;

  const remember = (name: string, tenants: Tenants, askedAtMs: number): void => {
    const freshUntilMs = askedAtMs + (tenants.length === 0 ? http.missingSeconds : http.cacheSeconds) * 1000;
    const staleUntilMs = freshUntilMs + http.staleSeconds * 1000;
    if (staleUntilMs > askedAtMs) known.set(name, { tenants, askedAtMs, freshUntilMs, staleUntilMs });
    else known.delete(name);
  };
  const fetchTenants = async (name: string, keys: readonly string[], stale: Tenants | undefined): Promise<Tenants> => {
    const askedAtMs = clock.now().getTime();
    try {
      const tenants = await ask(keys);
      said(undefined);
      remember(name, tenants, askedAtMs);
      return tenants;
    } catch (error) {
      const cause = readCause(error);
      failedAtMs = askedAtMs;
      said(cause);
      if (stale !== undefined) return stale;
      throw unavailable('tenant-lookup-failed', cause);
    }
  };
  const find = (keys: readonly string[]): Tenants | Promise<Tenants> => {
    const name = JSON.stringify(keys);
    const nowMs = clock.now().getTime();
    const found = known.get(name);
    if (found !== undefined && isBetween(nowMs, found.askedAtMs, found.freshUntilMs)) return found.tenants;
    const stale =
      found !== undefined && isBetween(nowMs, found.askedAtMs, found.staleUntilMs) ? found.tenants : undefined;
    if (stale !== undefined && isBetween(nowMs, failedAtMs, failedAtMs + restMs)) return stale;
    return flights(name, () => fetchTenants(name, keys, stale));
  };
  return Object.assign(find, {
    forget: (clientId: string) => dropWhere(known, (_, { tenants }) => tenants.includes(clientId)),
  });
};
