import type { GuestGrant } from './guest.js';
import type { Epoch } from './stores.js';

/** Who asks. A function that takes one kind of caller cannot be called for another: that does not compile. */
export type ApiKeyCaller = {
  readonly kind: 'apiKey';
  readonly keyId: string;
  readonly dataAppId: string;
  readonly dataAppName: string;
};
export type ServiceCaller = { readonly kind: 'serviceToken'; readonly tokenId: string };
/** `epoch` is its client's, read together with the grant. */
export type LiveGrant = GuestGrant & { readonly epoch: Epoch };
export type GuestCaller = { readonly kind: 'guest'; readonly grant: LiveGrant };
export type Caller = ApiKeyCaller | ServiceCaller | GuestCaller;
