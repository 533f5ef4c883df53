/** The screens of Studio and their addresses. An address names everything that a screen shows, so that it can be shared. */
import type { Role } from './api.js';

export type Place = {
  readonly screen: ScreenName;
  /** The parts of the path after the screen's own. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
};

type Entry = {
  readonly screen: string;
  readonly title: string;
  readonly path: string;
  readonly group: 'Build' | 'Publish' | 'Operate' | null;
  readonly roles: readonly Role[];
};

const everybody = ['author', 'publisher', 'support', 'auditor'] as const;

export const entries = [
  { screen: 'overview', title: 'Overview', path: '', group: null, roles: everybody },
  { screen: 'start', title: 'Add your data', path: 'start', group: 'Build', roles: ['author'] },
  { screen: 'sources', title: 'Sources', path: 'sources', group: 'Build', roles: everybody },
  { screen: 'model', title: 'Models', path: 'models', group: 'Build', roles: everybody },
  { screen: 'dashboards', title: 'Dashboards', path: 'dashboards', group: 'Build', roles: everybody },
  { screen: 'publish', title: 'Roll-outs', path: 'rollouts', group: 'Publish', roles: everybody },
  { screen: 'policies', title: 'Policy', path: 'policy', group: 'Publish', roles: [...everybody, 'policyAdmin'] },
  { screen: 'embed', title: 'Embed', path: 'embed', group: 'Publish', roles: everybody },
  { screen: 'tenants', title: 'Tenants', path: 'tenants', group: 'Operate', roles: everybody },
  { screen: 'queries', title: 'Queries', path: 'queries', group: 'Operate', roles: everybody },
  {
    screen: 'tenant-reports',
    title: 'Tenant reports',
    path: 'tenant-reports',
    group: 'Operate',
    roles: ['publisher', 'support', 'auditor'],
  },
  { screen: 'deliveries', title: 'Deliveries', path: 'deliveries', group: 'Operate', roles: ['support', 'auditor'] },
  { screen: 'tokens', title: 'Guest tokens', path: 'tokens', group: 'Operate', roles: ['support', 'auditor'] },
  { screen: 'keys', title: 'Keys', path: 'keys', group: 'Operate', roles: ['auditor'] },
  { screen: 'audit', title: 'Audit', path: 'audit', group: 'Operate', roles: ['auditor'] },
  { screen: 'system', title: 'System', path: 'health', group: 'Operate', roles: ['support', 'auditor'] },
] as const satisfies readonly Entry[];
export type ScreenName = (typeof entries)[number]['screen'] | 'dashboard';

const root = '/studio';

/** Undefined for an address that is none of Studio's. */
export const placeOf = (url: URL): Place | undefined => {
  const parts = url.pathname.slice(root.length).split('/').filter(Boolean).map(decodeURIComponent);
  const [first = '', ...rest] = parts;
  const entry = entries.find(({ path }) => path === first);
  if (entry === undefined) return undefined;
  const screen = entry.screen === 'dashboards' && rest.length > 0 ? 'dashboard' : entry.screen;
  return { screen, rest, query: url.searchParams };
};

/** The address of a screen. */
export const addressOf = (
  path: string,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string => {
  const parts = [path, ...rest.map(encodeURIComponent)].filter(Boolean);
  const search = new URLSearchParams(query).toString();
  return `${[root, ...parts].join('/')}${search === '' ? '' : `?${search}`}`;
};

const event = 'guestlist-studio-navigate';

/** Opens an address without loading the page anew. */
export const navigate = (address: string, replaces = false): void => {
  if (replaces) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  window.dispatchEvent(new Event(event));
};

/** Calls `changed` whenever the address changes, until the signal aborts. */
export const watchAddress = (changed: () => void, signal: AbortSignal): void => {
  window.addEventListener(event, changed, { signal });
  window.addEventListener('popstate', changed, { signal });
};
