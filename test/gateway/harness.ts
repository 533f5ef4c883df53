/** A gateway on a real port: node:http and the real router, with a clock that tests move and a scripted upstream. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { composeGateway, type GatewayOptions } from '../../src/compose/gateway.js';
import { createAudit } from '../../src/gateway/audit/writer.js';
import { loadPolicyFile } from '../../src/gateway/policy/load.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { fixedCapabilities } from '../../src/gateway/upstream/capabilities.js';
import type { Capability } from '../../src/model/capability.js';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { fixedKeys, type JwtKeys, secretKey } from '../../src/platform/keys/jwt-keys.js';
import { fixedPolicies } from './fixed-policies.js';
import { openTestLedger } from './ledgers.js';
import { createScriptedUpstream } from './scripted-upstream.js';

export const demoSecret = 'demo-secret-of-at-least-32-bytes!!';
export const hostSecret = 'host-secret-of-at-least-32-bytes!!';
export const gatewayToken = 'gateway-token-of-at-least-32-characters';
export const startSeconds = 1_800_000_000;
export const demoPolicy = loadPolicyFile(new URL('../../config/policies/flights.yaml', import.meta.url).pathname);

/** The keys of an issuer with a shared secret. */
export const secretKeys = (secret: string): JwtKeys => fixedKeys([secretKey(secret)]);

/** A clock that stands still until it is moved. */
export const createMovableClock = (startMs = startSeconds * 1000) => {
  let nowMs = startMs;
  return {
    now: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
};

export const analyst = { iss: 'guestlist-demo', sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
export const manager = { ...analyst, sub: 'max', roles: ['manager'] };
export const regional = {
  iss: 'guestlist-demo',
  sub: 'rea',
  org_id: 'SFO',
  roles: ['analyst', 'regional'],
  region: 'CA',
};

/** Signs a session that is valid for an hour from the start of the clock. */
export const sign = (claims: object, secret = demoSecret, options: jwt.SignOptions = {}): string =>
  jwt.sign({ exp: startSeconds + 3600, iat: startSeconds, ...claims }, secret, options);

export type ErrorBody = {
  error: { code: string; message: string; status: number; reason?: string; requestId?: string };
};
export type AnswerBody = {
  token: string;
  expiresAt: string;
  refreshAfter: string;
  embeds: { id: string; name: string; type: string }[];
  serviceUrl: string;
};

const defaults = defaultSettings();
export const usualUpstream = defaults.gateway.upstream;
export const usualLimits = {
  ...defaults.gateway.limits,
  failedCredentialsPerMinute: defaults.limits.failedCredentialsPerMinute,
};

/** A log whose lines can be read. */
export const captureLog = () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
};

const requests = new AsyncLocalStorage<true>();

/** Whether the caller works for a request, and not in the gateway's background. */
export const isInRequest = (): boolean => requests.getStore() === true;

/** Options that replace the usual ones. `identify` replaces the issuers. */
export type Overrides = Partial<GatewayOptions> & {
  readonly policy?: Policy;
  /** The capabilities of the scripted upstream; none if left out. */
  readonly capabilities?: readonly Capability[];
};

export const startGateway = async (overrides: Overrides = {}) => {
  const clock = createMovableClock();
  const upstream = createScriptedUpstream();
  const { log, lines } = captureLog();
  const ledger = overrides.ledger ?? (await openTestLedger());
  const options = {
    issuers: [
      { issuer: 'guestlist-demo', algorithms: ['HS256'], keys: secretKeys(demoSecret), clockToleranceSeconds: 0 },
      {
        issuer: 'https://host.example',
        algorithms: ['HS256'],
        keys: secretKeys(hostSecret),
        audience: 'guestlist',
        clockToleranceSeconds: 5,
      },
    ],
    cookieName: 'host_session',
    allowedOrigins: ['https://app.example.com'],
    policies: fixedPolicies(overrides.policy ?? demoPolicy),
    ledger,
    audit: createAudit({ ledger, clock, log }),
    gatewayToken,
    upstream: {
      transport: upstream.transport,
      apiKey: 'the-api-key',
      baseUrl: 'http://service.test',
      capabilities: fixedCapabilities(overrides.capabilities ?? []),
    },
    serviceUrl: 'http://service.test',
    cache: createMemoryCache({ clock }),
    clock,
    log,
    ...overrides,
  };
  const gateway = composeGateway(options as GatewayOptions);
  const server = createServer((request, response) =>
    requests.run(true, () =>
      gateway(request, response, () => {
        response.writeHead(404).end('next');
      }),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (claims: object | string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/embed-token`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${typeof claims === 'string' ? claims : sign(claims)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const granted = async (claims: object | string, body?: unknown): Promise<AnswerBody> => {
    const response = await ask(claims, body);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as AnswerBody;
  };
  const refused = async (claims: object | string, body?: unknown, headers?: Record<string, string>) => {
    const response = await ask(claims, body, headers);
    const { error } = (await response.json()) as ErrorBody;
    return { ...error, status: response.status, headers: response.headers };
  };
  const { assertReady, viewAs, findReportRight, listTenantUsers, isTenantActive, commands } = gateway;
  const run = (name: string, input: object) => commands.find((command) => command.name === name)?.run(input);
  const rights = { viewAs, findReportRight, listTenantUsers, isTenantActive };
  const { close } = gateway;
  return { url, clock, upstream, lines, ledger, ask, granted, refused, assertReady, run, close, ...rights };
};
