/** Names of persons and tenants as the audit has them: under a key of the tenant's own, so that nothing is left once it is destroyed. */
import { createHmac, hkdfSync } from 'node:crypto';
import { createSealer } from '../../platform/sealing.js';
import { encodeClientId } from '../common/dashboard-id.js';

/** A tenant's key: 32 random bytes. */
export type TenantKey = Buffer;

const derive = (key: TenantKey, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));

export type Pseudonyms = {
  readonly tenant: (clientId: string) => string;
  readonly user: (userIdentifier: string) => string;
  /** Under the key too, since its parts can be guessed. */
  readonly digest: (requestDigest: string) => string;
  /** Seals for this key alone; `context` binds what it belongs to. */
  readonly seal: (text: string, context: string) => string;
  /** Throws where another key sealed it. */
  readonly open: (sealed: string, context: string) => string;
};

/** Under one tenant's key. */
export const pseudonymsOf = (key: TenantKey): Pseudonyms => {
  const naming = derive(key, 'guestlist audit pseudonyms');
  const sealer = createSealer(derive(key, 'guestlist audit names'));
  const mac = (kind: string, value: string): string =>
    createHmac('sha256', naming).update(`${kind}\n${value}`, 'utf8').digest('base64url').slice(0, 32);
  return {
    tenant: (clientId) => `t_${mac('tenant', clientId)}`,
    user: (userIdentifier) => `u_${mac('user', userIdentifier)}`,
    digest: (requestDigest) => mac('request', requestDigest),
    seal: sealer.seal,
    open: sealer.open,
  };
};

/** A text with no name of this tenant or user left in it: dashboard ids hold them, for one. */
export const withoutNames = (text: string, names: readonly (string | undefined)[]): string =>
  names
    .filter((name) => name !== undefined && name !== '')
    .flatMap((name = '') => [name, encodeClientId(name)])
    .toSorted((left, right) => right.length - left.length)
    .reduce((rest, name) => rest.replaceAll(name, '*'), text);
