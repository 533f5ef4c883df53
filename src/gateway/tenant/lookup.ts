/**
 * Looks up the tenants of a key at the host. Sends a POST of `{"keys": [...]}` to the policy's URL and expects status 200
 * with `{"tenants": [...]}`. An empty list is valid.
 */
import { z } from 'zod';
import type { Clock } from '../../model/ports.js';
import type { Log } from '../../platform/logs/log.js';
import type { ForgetClient } from '../common/eraser.js';
import { createHostQuestions } from '../host/questions.js';
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

/** The format of the tenants in a host's response. */
export const lookupAnswer = z.array(z.string()).max(maxClaimList);
const answerShape = z.object({ tenants: lookupAnswer });

const readAnswer = (status: number, text: string): Tenants => {
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

/** Creates the lookup of one policy, with its own cache. */
export const createTenantLookup = ({ http, ...options }: TenantLookupOptions): TenantLookup => {
  const questions = createHostQuestions<readonly string[], Tenants>({
    ...options,
    address: http,
    what: 'the tenant lookup',
    privateMend: 'set allowPrivateAddresses for it in gateway.policyMayRead.lookups if it is of your own network',
    refusal: {
      message:
        "The host application could not say which organisation this user belongs to. Try again shortly; the gateway's log has the reason.",
      reason: 'tenant-lookup-failed',
    },
    events: { failed: 'tenant_lookup.failed', recovered: 'tenant_lookup.recovered' },
    write: (keys) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ keys }),
    }),
    read: readAnswer,
    secondsOf: (tenants) => (tenants.length === 0 ? http.missingSeconds : http.cacheSeconds),
  });
  return Object.assign((keys: readonly string[]) => questions.ask(JSON.stringify(keys), keys), {
    forget: (clientId: string) => questions.forget((tenants) => tenants.includes(clientId)),
  });
};
