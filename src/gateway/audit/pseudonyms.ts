/**
 * Pseudonyms of persons and tenants in the audit. They depend on a key of the tenant, so that no name can be recovered
 * once the key is destroyed.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { createSealer, textOfSealed } from '../../platform/keys/sealing.js';
import { encodeClientId } from '../common/dashboard-id.js';

/** A tenant's key: 32 random bytes. */
export type TenantKey = Buffer;

const derive = (key: TenantKey, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));

export type Pseudonyms = {
  readonly tenant: (clientId: string) => string;
  readonly user: (userIdentifier: string) => string;
  /** Also keyed, since the contents of a request can be guessed. */
  readonly digest: (requestDigest: string) => string;
  /** Encrypts `text` with this key. `context` is bound to the result. */
  readonly seal: (text: string, context: string) => string;
  /** Throws if another key or context sealed the text. */
  readonly open: (sealed: string, context: string) => string;
};

/** Returns the pseudonyms under one tenant's key. */
export const pseudonymsOf = (key: TenantKey): Pseudonyms => {
  const naming = derive(key, 'guestlist audit pseudonyms');
  const sealer = createSealer(derive(key, 'guestlist audit names'));
  const mac = (kind: string, value: string): string =>
    createHmac('sha256', naming).update(`${kind}\n${value}`, 'utf8').digest('base64url').slice(0, 32);
  return {
    tenant: (clientId) => `t_${mac('tenant', clientId)}`,
    user: (userIdentifier) => `u_${mac('user', userIdentifier)}`,
    digest: (requestDigest) => mac('request', requestDigest),
    seal: (text, context) => textOfSealed(sealer.seal(text, context)),
    open: sealer.open,
  };
};

/** Removes the names of the tenant and the user from a text. For example, dashboard ids contain them. */
export const withoutNames = (text: string, names: readonly (string | undefined)[]): string =>
  names
    .filter((name) => name !== undefined && name !== '')
    .flatMap((name = '') => [name, encodeClientId(name)])
    .toSorted((left, right) => right.length - left.length)
    .reduce((rest, name) => rest.replaceAll(name, '*'), text);
