import type { ContentRevision, Epoch } from '../brand.js';
import type { GuestGrant } from './grant.js';

/** Who asks. A function that takes one kind of caller cannot be called for another: that does not compile. */
export type ApiKeyCaller = {
  readonly kind: 'apiKey';
  readonly keyId: string;
  readonly dataAppId: string;
  readonly dataAppName: string;
};
export type ServiceCaller = { readonly kind: 'serviceToken'; readonly tokenId: string };
/** `epoch` is its client's and `revision` the content's, read together with the grant; `revision` null: nothing that was kept is read. */
export type LiveGrant = GuestGrant & { readonly epoch: Epoch; readonly revision: ContentRevision | null };
export type GuestCaller = { readonly kind: 'guest'; readonly grant: LiveGrant };
export type Caller = ApiKeyCaller | ServiceCaller | GuestCaller;
