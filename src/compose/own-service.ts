/**
 * The gateway's way into a service of its own process: no API key is needed, made or stored. Each call is made in the
 * name of the policy's data app, by code of this process; no request over HTTP can ask this way.
 */
import { hkdfSync } from 'node:crypto';
import { fixedCapabilities } from '../gateway/upstream/capabilities.js';
import { unavailable } from '../gateway/upstream/unavailable.js';
import type { GatewayUpstream } from '../gateway/upstream/upstream.js';
import { capabilityNames } from '../model/capability.js';
import type { ApiKeyCaller } from '../model/guest/caller.js';
import type { Dispatch } from '../platform/http/wire/bind.js';
import { inProcessTransport } from '../platform/http/wire/in-process.js';
import type { KeyRing } from '../platform/keys/sealing.js';
import type { Store } from '../service/store/store.js';

export type OwnService = { readonly dispatch: Dispatch; readonly store: Pick<Store, 'dataApps'> };

/** Is no key of the store: an operation that rotates the caller's own key finds none. */
const noKey = '00000000-0000-0000-0000-000000000000';

/** The caller in whose name this process calls for a data app. Rejects with UPSTREAM_UNAVAILABLE if there is none. */
export const loadDataAppCaller = async ({ store }: Pick<OwnService, 'store'>, name: string): Promise<ApiKeyCaller> => {
  const dataApp = await store.dataApps.findByName(name);
  if (dataApp !== undefined) {
    return { kind: 'apiKey', keyId: noKey, dataAppId: dataApp.id, dataAppName: dataApp.name };
  }
  const mend = 'create it with POST /api/v2/data-app, or name another as dataApp in the policy';
  throw unavailable('data-app-missing', new Error(`There is no data app ${JSON.stringify(name)}: ${mend}.`));
};

/** Replicas share the first encryption key, and so the names of tokens that they cache together. */
const secretOf = ([first]: KeyRing): string =>
  Buffer.from(hkdfSync('sha256', first, '', 'guestlist: own service', 32)).toString('base64url');

/**
 * `apiKey` null: the way inside the process; otherwise this key is sent. The base URL is a fixed name and no address:
 * replicas share one database, and what one of them verified holds for all.
 */
export const createOwnService = (
  service: OwnService,
  { apiKey, keyRing }: { readonly apiKey: string | null; readonly keyRing: KeyRing },
): GatewayUpstream => ({
  baseUrl: 'in-process',
  capabilities: fixedCapabilities(capabilityNames),
  ...(apiKey === null
    ? {
        apiKey: secretOf(keyRing),
        transport: {
          ofDataApp: (name) => inProcessTransport(service.dispatch, () => loadDataAppCaller(service, name)),
        },
      }
    : { apiKey, transport: inProcessTransport(service.dispatch) }),
});
