/**
 * The accepted issuers of sessions: the demo's while it runs, the one of the simple settings, and those of the list.
 */
import { demoIssuer } from '../demo/host.js';
import type { Clock } from '../model/ports.js';
import type { KeySource } from '../model/signing-keys.js';
import { createJwks, type JwksOptions, type ReadSet } from '../platform/calls/jwks.js';
import type { Config } from '../platform/config/config.js';
import type { Credentials } from '../platform/config/credentials.js';
import type { ConfiguredIssuer } from '../platform/config/issuers.js';
import type { JwtIssuer } from '../platform/keys/jwt.js';
import { fixedKeys, type NamedKey, secretKey } from '../platform/keys/jwt-keys.js';
import { severalSecrets } from '../platform/keys/several-secrets.js';

type Surroundings = Pick<JwksOptions, 'clock' | 'log'>;

/** An issuer with what operators see of its keys. */
export type SessionIssuer = JwtIssuer & { readonly source: KeySource; readonly read: () => ReadSet };

/** Keys of the configuration, which are in use since this process started. */
const fixed = (keys: readonly NamedKey[], clock: Clock): Pick<SessionIssuer, 'keys' | 'read'> => {
  const startedAt = clock.now();
  const seen = keys.map((key) => ({ ...key, seenAt: startedAt }));
  return { keys: fixedKeys(keys), read: () => ({ keys: seen, readAt: startedAt, isFailing: false }) };
};

const keysOf = (
  { keys }: Pick<ConfiguredIssuer, 'keys'>,
  surroundings: Surroundings,
): Pick<SessionIssuer, 'keys' | 'read'> => {
  if (!('jwksUrl' in keys || 'discover' in keys)) return fixed(keys, surroundings.clock);
  const at = 'discover' in keys ? { url: keys.discover, isIssuer: true } : { url: keys.jwksUrl };
  const published = createJwks({ ...surroundings, ...at });
  return { keys: published, read: published.read };
};

/** Returns the issuers of a configuration. A JWKS is fetched when a session first needs one of its keys. */
export const createIssuers = (
  { settings, secrets, issuers, isDemo }: Pick<Config, 'settings' | 'secrets' | 'issuers' | 'isDemo'>,
  { demoJwtSecret }: Pick<Credentials, 'demoJwtSecret'>,
  surroundings: Surroundings,
): readonly SessionIssuer[] => {
  const { issuer, audience, clockToleranceSeconds } = settings.gateway.session;
  const ofSecret = (secret: string) => ({
    algorithms: ['HS256'] as const,
    clockToleranceSeconds,
    ...fixed(severalSecrets(secret).map(secretKey), surroundings.clock),
  });
  const variable = { kind: 'variable', name: 'GUESTLIST_HOST_JWT_SECRET' } as const;
  return [
    ...(isDemo
      ? [{ ...ofSecret(demoJwtSecret), issuer: demoIssuer, source: { kind: 'demo', name: null } as const }]
      : []),
    ...(secrets.hostJwtSecret === null
      ? []
      : [{ ...ofSecret(secrets.hostJwtSecret), issuer, audience: audience ?? undefined, source: variable }]),
    ...issuers.map((configured) => ({
      issuer: configured.issuer,
      audience: configured.audience ?? undefined,
      algorithms: configured.algorithms,
      clockToleranceSeconds: configured.clockToleranceSeconds,
      source: configured.source,
      ...keysOf(configured, surroundings),
    })),
  ];
};
