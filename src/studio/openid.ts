/**
 * Logging in to Studio by OpenID Connect: the authorization code flow with PKCE. What must survive the visit to the
 * issuer is in a sealed cookie of ten minutes, so every replica can finish what another began. With what the issuer gave
 * at a login, it is asked again for the person.
 */
import type { Configuration } from 'openid-client';
import { z } from 'zod';
import { handled } from '../model/handled.js';
import type { IssuerToken, Person, StudioRole } from '../model/person.js';
import type { Clock } from '../model/ports.js';
import { Refusal } from '../model/refusal.js';
import { DependencyUnavailable } from '../model/unavailable.js';
import { discoverIssuer, type IssuerOptions } from '../platform/calls/openid-issuer.js';
import { type Sealer, textOfSealed } from '../platform/keys/sealing.js';

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
    /** Whether endpoints of the issuer at other hosts may be of the operator's own network. */
    readonly allowPrivateAddresses: boolean;
  };
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** The origin of Studio as browsers see it. */
  readonly origin: string;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Resolves names, for tests. Left out: the system does. */
  readonly lookup?: IssuerOptions['lookup'];
};

/**
 * What the issuer says of a person later. `away`: it cannot be asked now. The token is the one for the next question,
 * because a refresh token may work once.
 */
export type Rechecked =
  | { readonly outcome: 'vouched'; readonly person: Person; readonly issuerToken: IssuerToken }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'away'; readonly issuerToken: IssuerToken; readonly cause: unknown };

export type OpenId = {
  readonly issuer: string;
  /** Where to send the browser, and the value of the cookie that it takes along. */
  readonly begin: () => Promise<{ readonly address: string; readonly cookie: string }>;
  /**
   * The person, from the address that the issuer sent the browser back to. Token null: the issuer gave nothing to ask it
   * again with. Rejects with AUTHENTICATION_ERROR or UNAUTHORIZED.
   */
  readonly finish: (
    query: string,
    cookie: string | null,
  ) => Promise<{ readonly person: Person; readonly issuerToken: IssuerToken | null }>;
  readonly recheck: (person: Person, issuerToken: IssuerToken) => Promise<Rechecked>;
};

export const openIdCookie = 'guestlist_studio_login';
export const openIdPath = '/studio/login/callback';
const context = 'studio login';
export const loginMs = 600_000;
/** Of one call of the issuer. A re-check makes up to three. */
const timeoutSeconds = 10;

const underWay = z.object({ verifier: z.string(), state: z.string(), nonce: z.string(), untilMs: z.number() });

/** Finds the issuer's endpoints at the first login, and again if that failed. */
const createDiscovery = ({ settings, clientSecret, lookup }: OpenIdOptions) => {
  const { issuer, clientId, allowPrivateAddresses } = settings;
  let found: Promise<Configuration> | undefined;
  const discover = (): Promise<Configuration> =>
    discoverIssuer({
      ...{ issuer, clientId, clientSecret, timeoutSeconds, lookup },
      allowsPrivate: allowPrivateAddresses,
      mend: 'set studio.openId.allowPrivateAddresses if it is yours',
    });
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

type Claims = Readonly<Record<string, unknown>>;

const personOf = ({ settings }: Pick<OpenIdOptions, 'settings'>, claims: Claims): Person => {
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

/** Errors of a token endpoint that are about the person. Any other is about this client, or a fault. */
const refusals = [
  ...['invalid_grant', 'access_denied', 'interaction_required', 'login_required', 'consent_required'],
  'account_selection_required',
];

const isRefusalOfToken = async (error: unknown): Promise<boolean> => {
  const { ResponseBodyError } = await import('openid-client');
  return error instanceof ResponseBodyError && refusals.includes(error.error);
};

/** Whether the issuer no longer takes the access token, or answers for somebody else. */
const isRefusalOfClaims = async (error: unknown): Promise<boolean> => {
  const { ClientError, WWWAuthenticateChallengeError } = await import('openid-client');
  const statuses = [401, 403];
  if (error instanceof WWWAuthenticateChallengeError) return statuses.includes(error.status);
  if (!(error instanceof ClientError)) return false;
  if (error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return true;
  return error.cause instanceof Response && statuses.includes(error.cause.status);
};

class RefusedByIssuer extends Error {
  override readonly name = 'RefusedByIssuer';
}

/** Rejects with RefusedByIssuer if the issuer said no, and with the error itself if it could not answer. */
const asked = async <R>(call: Promise<R>, isRefusal: (error: unknown) => Promise<boolean>): Promise<R> => {
  try {
    return await call;
  } catch (cause) {
    throw (await isRefusal(cause)) ? new RefusedByIssuer('the issuer refused', { cause }) : cause;
  }
};

/** The claims of the person by an access token. Undefined: the issuer has no such endpoint. */
const userInfo = async (configuration: Configuration, token: string, subject: string): Promise<Claims | undefined> => {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined;
  const client = await import('openid-client');
  return asked(client.fetchUserInfo(configuration, token, subject), isRefusalOfClaims);
};

type Tokens = { readonly access_token: string; readonly refresh_token?: string };

/**
 * What the issuer is asked again with: its refresh token, else the access token. Null: it refuses its own access token,
 * or tells nothing for it. Throws DependencyUnavailable if it cannot be asked.
 */
const issuerTokenOf = async (
  { settings }: OpenIdOptions,
  configuration: Configuration,
  { access_token, refresh_token }: Tokens,
  { subject }: Person,
): Promise<IssuerToken | null> => {
  const claims = await userInfo(configuration, access_token, subject).catch((error: unknown) => {
    if (error instanceof RefusedByIssuer) return undefined;
    throw new DependencyUnavailable('studio-issuer-away', 'the issuer of logins to Studio cannot be reached', error);
  });
  const tellsRoles = claims !== undefined && Object.hasOwn(claims, settings.rolesClaim);
  if (refresh_token !== undefined) return { kind: 'refresh', token: refresh_token, tellsRoles };
  return claims === undefined ? null : { kind: 'access', token: access_token, tellsRoles };
};

/** The person by newer claims. Throws a refusal if these give no role or are of somebody else. */
const personAgain = (options: OpenIdOptions, before: Person, claims: Claims, tellsRoles: boolean): Person => {
  if (claims.sub !== before.subject) throw new RefusedByIssuer('the issuer answered for somebody else');
  return tellsRoles ? personOf(options, claims) : before;
};

/** Asks the issuer again. An ID token that comes with a refresh has the claims of a login. */
const rechecking = (options: OpenIdOptions, discover: () => Promise<Configuration>): OpenId['recheck'] => {
  const ask = async (person: Person, held: IssuerToken, keep: (next: IssuerToken) => void): Promise<Person> => {
    const client = await import('openid-client');
    const configuration = await discover();
    let access = held.token;
    if (held.kind === 'refresh') {
      const tokens = await asked(client.refreshTokenGrant(configuration, held.token), isRefusalOfToken);
      keep({ ...held, token: tokens.refresh_token ?? held.token });
      const claims = tokens.claims();
      const hasRoles = claims !== undefined && Object.hasOwn(claims, options.settings.rolesClaim);
      if (claims !== undefined && (hasRoles || !held.tellsRoles)) return personAgain(options, person, claims, true);
      access = tokens.access_token;
    }
    const claims = await userInfo(configuration, access, person.subject);
    return claims === undefined ? person : personAgain(options, person, claims, held.tellsRoles);
  };
  return async (person, held) => {
    let issuerToken = held;
    const keep = (next: IssuerToken): void => {
      issuerToken = next;
    };
    try {
      return { outcome: 'vouched', person: await ask(person, held, keep), issuerToken };
    } catch (cause) {
      const isNo = cause instanceof RefusedByIssuer || (cause instanceof Refusal && cause.code === 'UNAUTHORIZED');
      return isNo ? { outcome: 'refused' } : { outcome: 'away', issuerToken, cause };
    }
  };
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
    issuer: settings.issuer,
    recheck: rechecking(options, discover),
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
      const person = personOf(options, claims);
      return { person, issuerToken: await issuerTokenOf(options, configuration, tokens, person) };
    },
  };
};
