/** The commands for objects of the service, without their code: help and completion must not load it. */
export type ResourceName =
  | 'datasources'
  | 'datamarts'
  | 'workspaces'
  | 'dashboards'
  | 'data-apps'
  | 'keys'
  | 'service-tokens'
  | 'guest-tokens';

type ResourceWords = { readonly summary: string; readonly subcommands: readonly string[] };

export const resourceWords: Readonly<Record<ResourceName, ResourceWords>> = {
  datasources: { summary: 'databases that are connected, and their tables', subcommands: ['list', 'tables', 'delete'] },
  datamarts: { summary: 'tables and columns that metrics may read', subcommands: ['list', 'show', 'delete'] },
  workspaces: { summary: 'workspaces, which hold dashboards', subcommands: ['list', 'delete'] },
  dashboards: { summary: 'dashboards of a workspace, such as templates', subcommands: ['list', 'delete'] },
  'data-apps': { summary: 'data apps, each with its own API keys and embeds', subcommands: ['list', 'create'] },
  keys: {
    summary: 'API keys of a data app; reseal: stored secrets',
    subcommands: ['list', 'create', 'delete'],
  },
  'service-tokens': {
    summary: 'credentials of operators at the service',
    subcommands: ['list', 'create', 'delete'],
  },
  'guest-tokens': { summary: 'guest tokens of the data app of GUESTLIST_API_KEY', subcommands: ['list', 'revoke'] },
};

export const resourceNames = Object.keys(resourceWords) as readonly ResourceName[];
