/**
 * The accepted issuers of sessions: the demo's while it runs, the one of the simple settings, and those of the list.
 */
import { demoIssuer } from '../demo/host.js';
import type { Config } from '../platform/config.js';
import type { Credentials } from '../platform/credentials.js';
import type { ConfiguredIssuer } from '../platform/issuers.js';
import { createJwks, type JwksOptions } from '../platform/jwks.js';
import type { JwtIssuer } from '../platform/jwt.js';
import { fixedKeys, type JwtKeys, secretKey } from '../platform/jwt-keys.js';

type Surroundings = Pick<JwksOptions, 'clock' | 'log'>;

const secretIssuer = (issuer: string | null, secret: string, clockToleranceSeconds: number): JwtIssuer => ({
  issuer,
  algorithms: ['HS256'],
  clockToleranceSeconds,
  keys: fixedKeys([secretKey(secret)]),
});

const keysOf = ({ keys }: ConfiguredIssuer, surroundings: Surroundings): JwtKeys =>
  'jwksUrl' in keys ? createJwks({ ...surroundings, url: keys.jwksUrl }) : fixedKeys(keys);

/** Returns the issuers of a configuration. A JWKS is fetched when a session first needs one of its keys. */
export const createIssuers = (
  { settings, secrets, issuers, isDemo }: Pick<Config, 'settings' | 'secrets' | 'issuers' | 'isDemo'>,
  { demoJwtSecret }: Pick<Credentials, 'demoJwtSecret'>,
  surroundings: Surroundings,
): readonly JwtIssuer[] => {
  const { issuer, audience, clockToleranceSeconds } = settings.gateway.session;
  const simple =
    secrets.hostJwtSecret === null
      ? []
      : [{ ...secretIssuer(issuer, secrets.hostJwtSecret, clockToleranceSeconds), audience: audience ?? undefined }];
  return [
    ...(isDemo ? [secretIssuer(demoIssuer, demoJwtSecret, clockToleranceSeconds)] : []),
    ...simple,
    ...issuers.map((configured) => ({
      issuer: configured.issuer,
      audience: configured.audience ?? undefined,
      algorithms: configured.algorithms,
      clockToleranceSeconds: configured.clockToleranceSeconds,
      keys: keysOf(configured, surroundings),
    })),
  ];
};
