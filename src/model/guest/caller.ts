import type { ContentRevision, Epoch } from '../brand.js';
import type { Person } from '../person.js';
import type { GuestGrant } from './grant.js';

/** The authenticated caller. Functions take one kind of caller, so a call with the wrong kind does not compile. */
export type ApiKeyCaller = {
  readonly kind: 'apiKey';
  readonly keyId: string;
  readonly dataAppId: string;
  readonly dataAppName: string;
  /** The deployment of the gateway that calls. */
  readonly gateway?: string;
  /** Who asks, if Studio calls in the name of the data app. */
  readonly person?: Person;
};
export type ServiceCaller = {
  readonly kind: 'serviceToken';
  readonly tokenId: string;
  /** Who asks, if Studio calls in the name of the organization. */
  readonly person?: Person;
};
/** Whether an answer may tell of rows: with a credential of the host, or for a person in Studio who sees data. */
export const seesData = ({ person }: ApiKeyCaller | ServiceCaller): boolean => person === undefined || person.seesData;

/**
 * A grant with state that was read at the same time: `epoch` of its client and `revision` of the content. `revision`
 * null: cached content must not be used.
 */
export type LiveGrant = GuestGrant & { readonly epoch: Epoch; readonly revision: ContentRevision | null };
export type GuestCaller = {
  readonly kind: 'guest';
  readonly grant: LiveGrant;
  /** An author in Studio who looks through the eyes of this guest, and builds metrics whether or not the guest may. */
  readonly author?: Person;
  /** Somebody in Studio looks through the eyes of this guest: nothing is offered that a view may not do. */
  readonly isView?: true;
  /** That person may not see data: no value that a user chose is shown. */
  readonly isBlind?: true;
};
/** Only Studio makes such a caller, for a session of its own: no credential of a request does. */
export type AuthorCaller = GuestCaller & { readonly author: Person };
export type Caller = ApiKeyCaller | ServiceCaller | GuestCaller;
