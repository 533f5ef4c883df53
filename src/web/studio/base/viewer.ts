/** Through whose eyes Studio looks: a tenant, and the claims of one of its users. Kept for this browser tab. */
import { type GuestData, type GuestInput, type GuestRoute, requestOf } from '../../base/operations.js';
import type { Answer, Api, CommandInput, View } from './api.js';
import { withoutFolders } from './card-words.js';
import type { Spoken } from './policy-words.js';
import { forgetOfOthers } from './tab-owner.js';
import { tenantName, tenantText } from './tenant-names.js';

export type Viewer = Pick<CommandInput<'view-open'>, 'clientId' | 'claims' | 'at'> & {
  /** What the user's session calls the user. */
  readonly name?: string;
  /** The user's roles, as the policy reads them. */
  readonly roles?: readonly string[];
  /** The template that opens as this user, whom nobody chose: the last who opened it. */
  readonly usualOf?: string;
};

/** Users who opened dashboards lately, newest first. */
export type KnownViewer = Answer<'viewers-list'>['viewers'][number];

/** Empty for people who may see no claims. `template`: only users who may open it. */
export const listViewers = async (
  api: Api,
  template: string | undefined,
  signal?: AbortSignal,
): Promise<readonly KnownViewer[]> => {
  if (!api.session.person.seesData) return [];
  return (await api.command('viewers-list', template === undefined ? {} : { template }, signal)).viewers;
};

export const viewerOf = ({ clientId, claims, name, roles }: KnownViewer): Viewer => ({
  ...{ clientId, claims, roles },
  ...(name === null ? {} : { name }),
});

const key = 'guestlist-studio-viewer';
const keptKey = 'guestlist-studio-viewer-beside';
const event = 'guestlist-studio-viewer';

/** Forgets the users whom another person chose in this browser tab. Null: nobody is logged in. */
export const forgetOthersViewers = (person: Api['session']['person'] | null): void =>
  forgetOfOthers(sessionStorage, [key, keptKey], person);

const read = (from: string): Viewer | null => {
  try {
    const stored: Viewer | null = JSON.parse(sessionStorage.getItem(from) ?? 'null');
    return stored === null || typeof stored.clientId !== 'string' || typeof stored.claims?.sub !== 'string'
      ? null
      : stored;
  } catch {
    return null;
  }
};

/** Null: nobody was chosen yet. */
export const readViewer = (): Viewer | null => read(key);

/** The user beside whom the chosen one is shown. Null: one user alone is shown. */
export const readKeptViewer = (): Viewer | null => read(keptKey);

/** Shows one user alone again: the chosen one. */
export const showOne = (): void => {
  sessionStorage.removeItem(keptKey);
  window.dispatchEvent(new Event(event));
};

/** Shows `viewer` beside `first`. */
export const chooseBeside = (first: Viewer, viewer: Viewer): void => {
  sessionStorage.setItem(keptKey, JSON.stringify(first));
  chooseViewer(viewer);
};

/** Whether both are the same user of the same tenant. */
export const isSameUser = (one: Viewer, other: Viewer): boolean =>
  one.clientId === other.clientId && one.claims.sub === other.claims.sub;

export const chooseViewer = (viewer: Viewer): void => {
  sessionStorage.setItem(key, JSON.stringify(viewer));
  window.dispatchEvent(new Event(event));
};

export const watchViewer = (changed: () => void, signal: AbortSignal): void =>
  window.addEventListener(event, changed, { signal });

/** What the policy says about sessions. */
export type PolicyFacts = Answer<'policy-read'>;

/** The user as commands take one: what else Studio knows of the user is for people. */
export const askedAs = ({ clientId, claims, at }: Viewer): CommandInput<'view-open'> => ({
  ...{ clientId, claims },
  ...(at === undefined ? {} : { at }),
});

/** Opens the view of the chosen user. */
export const openView = (api: Api, viewer: Viewer, signal?: AbortSignal): Promise<View> =>
  api.command('view-open', askedAs(viewer), signal);

/** Asks the guests' interface through a view. */
export const askAs = async <Route extends GuestRoute>(
  { token, serviceUrl }: View,
  route: Route,
  input: GuestInput<Route>,
): Promise<GuestData<Route>> => {
  const { path, init } = requestOf(route, input);
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const response = await fetch(`${serviceUrl}/api/v2/guest/${path}`, { ...init, headers });
  const { data, error }: { data: GuestData<Route>; error: { message: string } | null } = await response.json();
  if (error !== null) throw new Error(error.message);
  return data;
};

/** Why the policy decides as it does for the user: each rule with its file, line and column, and the closed cards. */
export const explainViewer = async (api: Api, { claims, at }: Viewer, signal?: AbortSignal) => {
  const input = { claims, ...(at === undefined ? {} : { now: at }) };
  const { text, explanation } = await api.command('policy-explain', input, signal);
  return { text: withoutFolders(text), explanation, cards: explanation.cards ?? [] };
};

/** The user as sentences about the policy's decision name it. */
export const spokenOf = ({ clientId, claims, name }: Viewer): Spoken => ({
  name: name ?? claims.sub,
  claims,
  tenant: tenantText(clientId),
});

/** A user in a sentence: “Marcus, manager at LAX”. */
export const whoSees = ({ clientId, claims, name, roles }: Viewer): string => {
  const given = roles ?? (Array.isArray(claims.roles) ? claims.roles.map(String) : []);
  return `${[name ?? claims.sub, ...given].join(', ')} at ${tenantText(clientId)}`;
};

/** A user in few words. */
export const nameOf = ({ clientId, claims }: Viewer): string => {
  const roles = Array.isArray(claims.roles) ? ` (${claims.roles.join(', ')})` : '';
  return `${claims.sub}${roles} · ${tenantName(clientId) ?? clientId}`;
};
