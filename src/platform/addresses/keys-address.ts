/** Where an issuer may publish its keys. */
import { isLoopback } from './addresses.js';

/**
 * Returns what is wrong with the address of a set of keys. Null: nothing. `isMachineMeant`: whether it may be of this machine,
 * without TLS. An address that a document of the public internet names may not.
 */
export const keysAddressFault = (address: string, isMachineMeant: boolean): string | null => {
  if (!URL.canParse(address)) return 'is no URL: write https://... as the issuer publishes it (jwks_uri)';
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'has a user or password in it: key sets are public, leave both out';
  if (protocol === 'https:' || (protocol === 'http:' && isMachineMeant && isLoopback(hostname))) return null;
  return 'must begin with https://, or anybody on the way could put keys of their own in; http:// is for this machine alone';
};
