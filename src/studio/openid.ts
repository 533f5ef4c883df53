/**
 * Logging in to Studio by OpenID Connect: the authorization code flow with PKCE. What must survive the visit to the
 * issuer is in a sealed cookie of ten minutes, so every replica can finish what another began.
 */
import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { handled } from '../domain/handled.js';
import type { Clock, Sealer } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Person, StudioRole } from '../domain/studio/person.js';
import { DependencyUnavailable } from '../domain/unavailable.js';
import { textOfSealed } from '../platform/sealing.js';

export type OpenIdOptions = {
  readonly settings: {
    readonly issuer: string;
    readonly clientId: string;
    readonly scopes: readonly string[];
    readonly rolesClaim: string;
    readonly nameClaim: string;
    /** The roles of Studio that each value of the claim gives. */
    readonly roles: Readonly<Record<string, readonly StudioRole[]>>;
    /** The values of the claim that give access to data of tenants. */
    readonly dataAccess: readonly string[];
  };
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** The origin of Studio as browsers see it. */
  readonly origin: string;
  readonly sealer: Sealer;
  readonly clock: Clock;
};

export type OpenId = {
  /** Where to send the browser, and the value of the cookie that it takes along. */
  readonly begin: () => Promise<{ readonly address: string; readonly cookie: string }>;
  /** The person, from the address that the issuer sent the browser back to. Rejects with AUTHENTICATION_ERROR or UNAUTHORIZED. */
  readonly finish: (query: string, cookie: string | null) => Promise<Person>;
};

export const openIdCookie = 'guestlist_studio_login';
export const openIdPath = '/studio/login/callback';
const context = 'studio login';
export const loginMs = 600_000;

const underWay = z.object({ verifier: z.string(), state: z.string(), nonce: z.string(), untilMs: z.number() });

/** Plain HTTP is for an issuer on this machine only. */
const isLocal = (issuer: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(issuer.hostname);

/** Finds the issuer's endpoints at the first login, and again if that failed. */
const createDiscovery = ({ settings, clientSecret }: OpenIdOptions) => {
  let found: Promise<Configuration> | undefined;
  const discover = async (): Promise<Configuration> => {
    const client = await import('openid-client');
    const issuer = new URL(settings.issuer);
    const authentication = clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
    const execute = isLocal(issuer) ? { execute: [client.allowInsecureRequests] } : undefined;
    return client.discovery(issuer, settings.clientId, undefined, authentication, execute);
  };
  return async (): Promise<Configuration> => {
    found ??= handled(discover());
    try {
      return await found;
    } catch (cause) {
      found = undefined;
      throw new DependencyUnavailable('studio-issuer-away', 'the issuer of logins to Studio cannot be reached', cause);
    }
  };
};

const denied = (message: string, cause?: unknown): Refusal =>
  new Refusal('AUTHENTICATION_ERROR', message, { reason: 'studio-login-failed', cause });

const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

const personOf = ({ settings }: OpenIdOptions, claims: Readonly<Record<string, unknown>>): Person => {
  const values = textsIn(claims[settings.rolesClaim]);
  const roles = [
    ...new Set(values.flatMap((value) => (Object.hasOwn(settings.roles, value) ? (settings.roles[value] ?? []) : []))),
  ];
  if (roles.length === 0) {
    throw new Refusal('UNAUTHORIZED', 'You have no role in Studio. Ask the operator of this installation for one.', {
      reason: 'studio-role-missing',
    });
  }
  const [name = String(claims.sub)] = textsIn(claims[settings.nameClaim]);
  const seesData = roles.includes('policyAdmin') || values.some((value) => settings.dataAccess.includes(value));
  return { issuer: settings.issuer, subject: String(claims.sub), name: name.slice(0, 255), roles, seesData };
};

export const createOpenId = (options: OpenIdOptions): OpenId => {
  const { settings, origin, sealer, clock } = options;
  const discover = createDiscovery(options);
  const opened = (cookie: string | null): z.output<typeof underWay> => {
    try {
      const login = underWay.parse(JSON.parse(sealer.open(cookie ?? '', context)));
      if (login.untilMs > clock.now().getTime()) return login;
    } catch (cause) {
      throw denied('This login was not begun in this browser. Begin it again.', cause);
    }
    throw denied('This login took too long. Begin it again.');
  };
  return {
    begin: async () => {
      const client = await import('openid-client');
      const configuration = await discover();
      const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()];
      const address = client.buildAuthorizationUrl(configuration, {
        redirect_uri: `${origin}${openIdPath}`,
        scope: settings.scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...{ state, nonce },
      });
      const untilMs = clock.now().getTime() + loginMs;
      return {
        address: address.href,
        cookie: textOfSealed(sealer.seal(JSON.stringify({ verifier, state, nonce, untilMs }), context)),
      };
    },
    finish: async (query, cookie) => {
      const { verifier, state, nonce } = opened(cookie);
      const client = await import('openid-client');
      const configuration = await discover();
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await client
        .authorizationCodeGrant(configuration, new URL(`${origin}${openIdPath}${query}`), checks)
        .catch((cause: unknown) => {
          throw denied('The issuer did not confirm this login. Begin it again; the log has the reason.', cause);
        });
      const claims = tokens.claims();
      if (claims === undefined) throw denied('The issuer named nobody. Begin the login again.');
      return personOf(options, claims);
    },
  };
};
