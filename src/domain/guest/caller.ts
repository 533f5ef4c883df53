import type { ContentRevision, Epoch } from '../brand.js';
import type { GuestGrant } from './grant.js';

/** The authenticated caller. Functions take one kind of caller, so a call with the wrong kind does not compile. */
export type ApiKeyCaller = {
  readonly kind: 'apiKey';
  readonly keyId: string;
  readonly dataAppId: string;
  readonly dataAppName: string;
};
export type ServiceCaller = { readonly kind: 'serviceToken'; readonly tokenId: string };
/**
 * A grant with state that was read at the same time: `epoch` of its client and `revision` of the content. `revision`
 * null: cached content must not be used.
 */
export type LiveGrant = GuestGrant & { readonly epoch: Epoch; readonly revision: ContentRevision | null };
export type GuestCaller = { readonly kind: 'guest'; readonly grant: LiveGrant };
export type Caller = ApiKeyCaller | ServiceCaller | GuestCaller;
