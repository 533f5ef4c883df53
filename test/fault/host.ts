/**
 * A host application that uses the product continuously and records what was acknowledged: logins, hooks about tenants,
 * revocations and roll-outs. Everything acknowledged must still hold after any fault.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { TenantEventKind } from '../../src/gateway/tenant/state.js';
import { analyst, session } from '../product/guest.js';
import type { Product } from '../product/product.js';
import { type Asked, askOnce, type Outcome } from './clients.js';

type Tenant = {
  readonly clientId: string;
  /** The state after the last acknowledged event. Undefined: no event was acknowledged yet. */
  state: 'active' | 'suspended' | 'deleted' | undefined;
  /** Number of events that were started. The outcome of a request that runs when an event starts is not certain. */
  changes: number;
  /** The event that was sent but not answered. */
  owed: { readonly kind: TenantEventKind; readonly id: string; readonly occurredAt: string } | undefined;
};
type User = {
  readonly sub: string;
  /**
   * Whether the user was revoked. `owed`: the revocation was sent but not answered. `pending`: the answer says that the
   * service could not be reached, and that the gateway tries again.
   */
  revocation: 'none' | 'owed' | 'pending' | 'done';
};
type Login = {
  readonly tenant: Tenant;
  readonly user: User;
  readonly token: string;
  readonly expiresAt: string;
  /** The tenant's `changes` when the token was requested, and when it was answered. */
  readonly changes: readonly [number, number];
  /** Whether no revocation of the user had begun when the token was answered. */
  readonly isBeforeRevocation: boolean;
};
type Head = { readonly seq: number; readonly hash: string };

const stateAfter = {
  'signed-up': 'active',
  suspended: 'suspended',
  resumed: 'active',
  deleted: 'deleted',
} as const satisfies Record<TenantEventKind, Tenant['state']>;
const life: readonly TenantEventKind[] = ['signed-up', 'suspended', 'resumed', 'suspended', 'resumed', 'deleted'];

export type Host = {
  /** Sets the process that further requests go to. */
  readonly use: (product: Product) => void;
  /** Sends requests until `stop` is called. */
  readonly run: () => Promise<void>;
  readonly stop: () => void;
  /** Sends unanswered events again until they are acknowledged, and waits for revocations that are tried again. Returns the duration of the slowest in milliseconds. */
  readonly finishOwed: () => Promise<number>;
  /** Continues interrupted roll-outs to their end. Returns the duration in milliseconds. */
  readonly finishRollouts: () => Promise<number>;
  /** Returns what was acknowledged but no longer holds. */
  readonly findLost: () => Promise<readonly string[]>;
  readonly acknowledged: () => number;
  /** Resolves after that many more acknowledgements. */
  readonly until: (more: number) => Promise<void>;
  readonly outcomes: readonly Outcome[];
  readonly askToken: (clientId: string, sub: string) => Promise<Outcome>;
};

/** A tenant that no event changes. */
export const steadyTenant = 'LAX';
const tenantsAtATime = 3;
const loginsAtATime = 3;
/** Most users of a host come back. Every new one fills the caches of tokens, which hold many thousands. */
const shareOfReturning = 0.95;
const returningUsers = 50;
const waitMs = 20;
/** Interval of repeated requests in milliseconds; short, as in an impatient host. */
const retryEveryMs = 100;
/** A token that ends so soon may have ended when it is checked. */
const expiryMarginMs = 60_000;
/** Number of tokens from before the last kill that are checked again after each kill. */
const sampleOfEarlier = 30;

export const createHost = (hookSecret: string, random: () => number): Host => {
  let product: Product | undefined;
  let isStopped = false;
  let users = 0;
  let acknowledged = 0;
  let head: Head | undefined;
  const tenants: Tenant[] = [];
  const outcomes: Outcome[] = [];
  const rollouts: string[] = [];
  const [logins, earlier]: [Login[], Login[]] = [[], []];
  const returning = new Map<Tenant, readonly User[]>();
  const steady: Tenant = { clientId: steadyTenant, state: 'active', changes: 0, owed: undefined };
  const newTenant = (): Tenant => ({ clientId: `k-${randomUUID()}`, state: undefined, changes: 0, owed: undefined });

  const used = (): Product => {
    if (product === undefined) throw new Error('no process is used');
    return product;
  };
  const ask = async (path: string, asked: Asked): Promise<Outcome> => {
    const outcome = await askOnce(`${used().url}${path}`, asked);
    outcomes.push({ ...outcome, body: outcome.status < 500 ? '' : outcome.body });
    if (outcome.status === 0 || outcome.status >= 500) await wait(waitMs);
    return outcome;
  };
  const command = (name: string, input: unknown): Promise<Outcome> => {
    const { gatewayToken } = used().credentials;
    const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' };
    return ask(`/gateway/admin/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
  };
  const askToken = (clientId: string, sub: string): Promise<Outcome> => {
    const authorization = `Bearer ${session(used(), { ...analyst(clientId), sub })}`;
    return ask('/embed-token', { method: 'POST', headers: { authorization } });
  };
  const statusOfRead = async ({ token, tenant }: Login): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    const path = `/api/v2/guest/dashboards/${encodeURIComponent(`delays--${tenant.clientId}`)}`;
    return (await askOnce(`${used().url}${path}`, { headers })).status;
  };

  const sendOwed = async (tenant: Tenant): Promise<boolean> => {
    const { owed } = tenant;
    if (owed === undefined) return true;
    const body = JSON.stringify({ clientId: tenant.clientId, occurredAt: owed.occurredAt });
    const sentAt = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': owed.id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(hookSecret).sign(owed.id, sentAt, body),
    };
    const { status, body: answer } = await ask(`/hooks/tenant-${owed.kind}`, { method: 'POST', headers, body });
    if (status >= 400 && status < 500)
      throw new Error(`${owed.kind} of ${tenant.clientId} is refused: ${status} ${answer}`);
    if (status !== 200) return false;
    tenant.state = stateAfter[owed.kind];
    tenant.owed = undefined;
    acknowledged += 1;
    return true;
  };
  const liveTenant = async (): Promise<void> => {
    while (!isStopped) {
      const tenant = newTenant();
      tenants.push(tenant);
      for (const kind of life) {
        if (isStopped) return;
        tenant.changes += 1;
        tenant.owed = { kind, id: randomUUID(), occurredAt: new Date().toISOString() };
        while (!isStopped && !(await sendOwed(tenant)));
        // Waits for a random time, so that tenants live differently long.
        for (let pause = Math.floor(random() * 6); pause > 0 && !isStopped; pause -= 1) await logIn(tenant);
      }
    }
  };
  /** One who logged in before, or a new one. */
  const userOf = (tenant: Tenant): User => {
    const known = (returning.get(tenant) ?? []).filter(({ revocation }) => revocation === 'none');
    const old = random() < shareOfReturning ? known[Math.floor(random() * known.length)] : undefined;
    if (old !== undefined) return old;
    users += 1;
    const user: User = { sub: `user-${users}`, revocation: 'none' };
    returning.set(tenant, [...known, user].slice(-returningUsers));
    return user;
  };
  const logIn = async (tenant: Tenant): Promise<void> => {
    const user = userOf(tenant);
    const before = tenant.changes;
    const { status, body } = await askToken(tenant.clientId, user.sub);
    if (status !== 200) return;
    acknowledged += 1;
    const { token, expiresAt } = JSON.parse(body);
    const isBeforeRevocation = user.revocation === 'none';
    logins.push({ tenant, user, token, expiresAt, changes: [before, tenant.changes], isBeforeRevocation });
  };
  const logInSomebody = async (): Promise<void> => {
    while (!isStopped) await logIn((random() < 0.7 ? tenants.at(-Math.ceil(random() * 6)) : undefined) ?? steady);
  };
  const revokeSomebody = async (): Promise<void> => {
    while (!isStopped) {
      for (let pause = 0; pause < 10 && !isStopped; pause += 1) await logIn(steady);
      const user = logins.at(-Math.ceil(random() * 20))?.user;
      if (user?.revocation !== 'none') continue;
      user.revocation = 'owed';
      const input = { by: 'user', subject: user.sub, issuer: 'guestlist-demo', reason: 'left' };
      const { status, body } = await command('revoke', input);
      const said = status === 200 ? /"service":"(done|pending)"/.exec(body)?.[1] : undefined;
      if (said !== 'done' && said !== 'pending') continue;
      user.revocation = said;
      acknowledged += 1;
    }
  };
  const content = async (): Promise<{ readonly data: { readonly gridMargin: number[] }; readonly digest: string }> => {
    const query = new URLSearchParams({ dashboardId: 'delays', workspaceName: 'flights' });
    const headers = { authorization: `Bearer ${used().credentials.serviceToken}` };
    return JSON.parse((await ask(`/api/v2/data-app/dashboards/content?${query}`, { headers })).body);
  };
  const changeTemplate = async (): Promise<void> => {
    const { data, digest } = await content();
    const margin = Math.floor(random() * 30);
    const changed = { ...data, gridMargin: [margin, margin] };
    const target = { dashboardId: 'delays', workspaceName: 'flights', content: changed, expectedDigest: digest };
    const headers = { authorization: `Bearer ${used().credentials.serviceToken}`, 'content-type': 'application/json' };
    await ask('/api/v2/data-app/dashboards/content', { method: 'PUT', headers, body: JSON.stringify(target) });
  };
  const rollOut = async (): Promise<void> => {
    while (!isStopped) {
      // The kill may have cut off the answer's body.
      await changeTemplate().catch(() => undefined);
      const { status, body } = await command('rollout-apply', { template: 'delays' });
      if (status === 200) {
        rollouts.push(JSON.parse(body).data.id);
        acknowledged += 1;
      }
      for (let pause = 0; pause < 40 && !isStopped; pause += 1) await logIn(steady);
    }
  };

  /** Whether a token must be able to read. Undefined: both outcomes are correct. */
  const mustRead = (login: Login): boolean | undefined => {
    const {
      tenant,
      user,
      changes: [asked, answered],
      isBeforeRevocation,
    } = login;
    const { revocation } = user;
    // Who logs in again after the revocation has a session that it does not end.
    if (revocation !== 'none' && !isBeforeRevocation) return undefined;
    const acknowledgedChanges = tenant.changes - (tenant.owed === undefined ? 0 : 1);
    const since = tenant === steady ? [] : life.slice(answered, acknowledgedChanges);
    if (revocation === 'done' || since.some((kind) => kind === 'suspended' || kind === 'deleted')) return false;
    if (revocation === 'owed' || revocation === 'pending' || tenant.owed !== undefined) return undefined;
    if (tenant.state === 'suspended' || tenant.state === 'deleted') return false;
    const isEnding = Date.parse(login.expiresAt) < Date.now() + expiryMarginMs;
    return tenant.changes === asked && !isEnding ? true : undefined;
  };
  /** Waits until the gateway has done what it promised to try again. */
  const finishPending = async (): Promise<void> => {
    for (const login of [...logins, ...earlier]) {
      if (login.user.revocation !== 'pending' || !login.isBeforeRevocation) continue;
      while ((await statusOfRead(login)) !== 401) await wait(retryEveryMs);
      login.user.revocation = 'done';
    }
  };
  const findWrongTokens = async (): Promise<readonly string[]> => {
    const sample = Array.from({ length: Math.min(sampleOfEarlier, earlier.length) }, () =>
      earlier.at(Math.floor(random() * earlier.length)),
    );
    const wrong: string[] = [];
    for (const login of [...logins, ...sample]) {
      const must = login === undefined ? undefined : mustRead(login);
      if (login === undefined || must === undefined || ((await statusOfRead(login)) === 200) === must) continue;
      wrong.push(`a token of ${login.tenant.clientId} (${login.tenant.state}) ${must ? 'does not read' : 'reads'}`);
    }
    earlier.push(...logins.splice(0));
    return wrong;
  };
  const findWrongTenants = async (): Promise<readonly string[]> => {
    const known = tenants.filter(({ owed, state }) => owed === undefined && state !== undefined);
    const wrong: string[] = [];
    for (const { clientId, state } of known.slice(-12)) {
      const { status } = await askToken(clientId, 'somebody');
      if (status !== (state === 'active' ? 200 : 403))
        wrong.push(`${clientId} is ${state}, and a login gets ${status}`);
    }
    return wrong;
  };
  const findAuditFaults = async (): Promise<readonly string[]> => {
    const { status, body } = await command('audit-verify', head === undefined ? {} : { head });
    if (status !== 200) return [`the audit is not verified: ${status} ${body}`];
    const { data } = JSON.parse(body);
    head = data.head;
    return data.fault === null ? [] : [`the audit is not whole: ${data.fault.message}`];
  };
  const findLostRollouts = async (): Promise<readonly string[]> => {
    const gone: string[] = [];
    for (const id of rollouts.slice(-sampleOfEarlier)) {
      const { status } = await command('rollout-status', { id });
      if (status !== 200) gone.push(`roll-out ${id} is gone: ${status}`);
    }
    return gone;
  };

  const statusOf = async (id: string): Promise<{ readonly state: string; readonly isAtWork: boolean }> =>
    JSON.parse((await command('rollout-status', { id })).body).data;
  const finishRollout = async (id: string): Promise<void> => {
    for (;;) {
      const { state, isAtWork } = await statusOf(id);
      if (state !== 'running') return;
      if (!isAtWork) await command('rollout-resume', { id });
      await wait(retryEveryMs);
    }
  };

  return {
    outcomes,
    acknowledged: () => acknowledged,
    until: async (more) => {
      const enough = acknowledged + more;
      while (acknowledged < enough) await wait(waitMs);
    },
    askToken,
    use: (next) => {
      product = next;
    },
    run: async () => {
      isStopped = false;
      const all = (count: number, work: () => Promise<void>) => Array.from({ length: count }, work);
      await Promise.all([
        ...all(tenantsAtATime, liveTenant),
        ...all(loginsAtATime, logInSomebody),
        revokeSomebody(),
        rollOut(),
      ]);
    },
    stop: () => {
      isStopped = true;
    },
    finishOwed: async () => {
      const startedMs = performance.now();
      for (const tenant of tenants) while (!(await sendOwed(tenant))) await wait(retryEveryMs);
      await finishPending();
      return performance.now() - startedMs;
    },
    finishRollouts: async () => {
      const startedMs = performance.now();
      for (const id of rollouts) await finishRollout(id);
      return performance.now() - startedMs;
    },
    findLost: async () => [
      ...(await findWrongTokens()),
      ...(await findWrongTenants()),
      ...(await findAuditFaults()),
      ...(await findLostRollouts()),
    ],
  };
};
