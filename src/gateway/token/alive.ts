/** Asks the service whether it still takes a guest token. Not part of the interface, so not every service can say. */
import { hash } from 'node:crypto';
import type { Call } from '../../platform/http/interface/client.js';
import { listGuestTokens } from '../../service/guest-tokens/contract/admin.js';
import type { Capabilities } from '../upstream/capabilities.js';

export type AliveOptions = { readonly upstream: Call; readonly capabilities: Pick<Capabilities, 'supports'> };

/** Resolves to false for a token that is dead, and if the service cannot say. Throws UPSTREAM_UNAVAILABLE. */
export const createIsAlive =
  ({ upstream, capabilities }: AliveOptions) =>
  async (token: string, clientId: string): Promise<boolean> => {
    if (!(await capabilities.supports('find-guest-token'))) return false;
    const { data } = await upstream(listGuestTokens, { clientId, tokenDigest: hash('sha256', token, 'hex') });
    return data.length > 0;
  };
