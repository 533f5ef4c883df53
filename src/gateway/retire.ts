/** Revokes guest tokens at the service, and keeps this gateway from answering those that it has in its cache. */
import { type Call, UpstreamRefusal } from '../contract/client.js';
import { revokeGuestTokens } from '../contract/guest-token-admin.js';
import type { GuestTokenRequest } from '../contract/guest-tokens.js';
import { Refusal } from '../domain/refusal.js';
import type { Retire } from './retirement.js';

export type Retiring = { readonly retire: Retire; readonly epochs: (request: GuestTokenRequest) => readonly string[] };

const keyOf = (clientId: string, userIdentifier: string): string => JSON.stringify([clientId, userIdentifier]);

export const createRetiring = (upstream: Call): Retiring => {
  const users = new Map<string, number>();
  let all = 0;
  return {
    epochs: ({ clientId, params }) => [
      String(all),
      String(users.get(keyOf(clientId, params?.userIdentifier ?? '')) ?? 0),
    ],
    retire: async (what) => {
      if (what.kind === 'policy') all += 1;
      else {
        const key = keyOf(what.clientId, what.userIdentifier);
        users.set(key, (users.get(key) ?? 0) + 1);
      }
      const { kind: _, ...whose } = what;
      try {
        await upstream(revokeGuestTokens, 'clientId' in whose ? whose : { all: true });
      } catch (cause) {
        if (!(cause instanceof UpstreamRefusal)) throw cause;
        throw new Refusal('NOT_SUPPORTED', 'The analytics service revokes no guest tokens.', { cause });
      }
    },
  };
};
