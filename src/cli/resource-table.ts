/** Which commands there are for the objects of the service, and the operation of the interface behind each. */
import { createApiKey, deleteApiKey, listApiKeys } from '../contract/api-keys.js';
import type { Call } from '../contract/client.js';
import { deleteTemplate } from '../contract/dashboards.js';
import { createDataApp, listDataApps } from '../contract/data-apps.js';
import { deleteDatamart, listDatamarts } from '../contract/datamarts.js';
import { listDatasourceTables } from '../contract/datasource-tables.js';
import { deleteDatasource, listDatasources } from '../contract/datasources.js';
import { listGuestTokens, revokeGuestTokens } from '../contract/guest-token-admin.js';
import { createServiceToken, deleteServiceToken, listServiceTokens } from '../contract/service-tokens.js';
import { listDashboards } from '../contract/workspace-dashboards.js';
import { deleteWorkspace, listWorkspaces } from '../contract/workspaces.js';
import { nearestName } from '../domain/nearest-name.js';
import { printable, tableText } from './kit/terminal.js';
import { OperatorError } from './operator.js';
import type { ResourceName } from './resource-names.js';
import type { OperatorCredential } from './service-client.js';

/** What a command answers: for machines, and for people. */
export type Printed = { readonly json: unknown; readonly text: string };
/** The words after the command, by their names in `names`, and the flags. */
export type Fields = Readonly<Record<string, string>>;

export type Action = {
  readonly summary: string;
  /** The words that it takes, all of them. */
  readonly names: readonly string[];
  readonly flags?: readonly string[];
  readonly credential: OperatorCredential;
  /** If true, it runs only with --yes. */
  readonly isFinal?: boolean;
  readonly run: (call: Call, fields: Fields) => Promise<Printed>;
};
export type Resource = { readonly actions: Readonly<Record<string, Action>> };

type Cell = string | number | null | undefined;

const listing = <Item>(items: readonly Item[], columns: Readonly<Record<string, (item: Item) => Cell>>): Printed => {
  const rows = items.map((item) => Object.values(columns).map((column) => String(column(item) ?? '-')));
  return { json: items, text: tableText(Object.keys(columns), rows) };
};

const done = (text: string, json: unknown): Printed => ({ json, text: printable(text) });

const field = (fields: Fields, name: string): string => {
  const value = fields[name];
  if (value === undefined) throw new Error(`the command declares no word ${name}`);
  return value;
};

/** Throws OperatorError with the name that was probably meant. */
const findNamed = <Item extends { readonly name: string }>(
  kind: string,
  items: readonly Item[],
  name: string,
): Item => {
  const found = items.find((item) => item.name === name);
  if (found !== undefined) return found;
  const names = items.map((item) => item.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `There are: ${names.join(', ') || 'none'}.` : `Did you mean "${near}"?`;
  throw new OperatorError(`There is no ${kind} "${name}". ${hint}`);
};

const service = { names: [], credential: 'serviceToken' } as const;
const deletion = { ...service, isFinal: true } as const;

const datasources: Resource = {
  actions: {
    list: {
      ...service,
      summary: 'list the datasources, without their credentials',
      run: async (call) =>
        listing((await call(listDatasources, {})).data, {
          NAME: ({ name }) => name,
          TYPE: ({ datasourceType }) => datasourceType,
          'TABLES READ': ({ syncedAt }) => syncedAt,
        }),
    },
    tables: {
      ...service,
      names: ['DATASOURCE'],
      summary: 'list the tables of a datasource; --json has columns, keys and proposed relationships',
      run: async (call, fields) => {
        const { data } = await call(listDatasourceTables, { name: field(fields, 'DATASOURCE') });
        const { text } = listing(data.tables, {
          TABLE: ({ schemaName, tableName }) => `${schemaName}.${tableName}`,
          COLUMNS: ({ columns }) => columns.length,
          'ROWS (ESTIMATED)': ({ estimatedRows }) => estimatedRows,
          'PRIMARY KEY': ({ primaryKey }) => primaryKey.join(', ') || null,
        });
        return { json: data, text };
      },
    },
    delete: {
      ...deletion,
      names: ['DATASOURCE'],
      summary: 'delete a datasource; refused while something stands on it',
      run: async (call, fields) => {
        const deleted = await call(deleteDatasource, { name: field(fields, 'DATASOURCE') });
        return done(`deleted the datasource ${deleted.name}`, deleted);
      },
    },
  },
};

const listAllDatamarts = async (call: Call, expandDetails: boolean) =>
  (await call(listDatamarts, { expandDetails })).data;

const datamarts: Resource = {
  actions: {
    list: {
      ...service,
      summary: 'list the datamarts',
      run: async (call) =>
        listing(await listAllDatamarts(call, false), {
          NAME: ({ name }) => name,
          DATASOURCE: ({ companyIntegration }) => companyIntegration.name,
          TENANCY: ({ datamartOrganization }) => datamartOrganization?.tenancyLevel,
          CHANGED: ({ updatedAt }) => updatedAt,
        }),
    },
    show: {
      ...service,
      names: ['DATAMART'],
      summary: 'list the columns that metrics of a datamart may use',
      run: async (call, fields) => {
        const datamart = findNamed('datamart', await listAllDatamarts(call, true), field(fields, 'DATAMART'));
        const columns = (datamart.datamartTables ?? []).flatMap((table) =>
          table.datamartTableColumns.map((column) => ({ table, column })),
        );
        const { text } = listing(columns, {
          TABLE: ({ table }) => `${table.schemaName}.${table.tableName}`,
          COLUMN: ({ column }) => column.columnName,
          TYPE: ({ column }) => column.datatype,
          LABEL: ({ column }) => column.label,
        });
        return { json: datamart, text };
      },
    },
    delete: {
      ...deletion,
      names: ['DATAMART'],
      summary: 'delete a datamart with its semantic layer and its embeds',
      run: async (call, fields) => {
        const name = field(fields, 'DATAMART');
        findNamed('datamart', await listAllDatamarts(call, false), name);
        return done(`deleted the datamart ${name}`, await call(deleteDatamart, { datamartName: name }));
      },
    },
  },
};

const workspaces: Resource = {
  actions: {
    list: {
      ...service,
      summary: 'list the workspaces',
      run: async (call) =>
        listing((await call(listWorkspaces, {})).data, {
          NAME: ({ name }) => name,
          'CONNECTED TO': ({ connectionType }) => connectionType,
        }),
    },
    delete: {
      ...deletion,
      names: ['WORKSPACE'],
      summary: 'delete a workspace; refused while it has dashboards',
      run: async (call, fields) => {
        const deleted = await call(deleteWorkspace, { name: field(fields, 'WORKSPACE') });
        return done(`deleted the workspace ${deleted.data.name}`, deleted.data);
      },
    },
  },
};

const dashboards: Resource = {
  actions: {
    list: {
      ...service,
      names: ['WORKSPACE'],
      summary: 'list the dashboards of a workspace',
      run: async (call, fields) =>
        listing((await call(listDashboards, { workspaceName: field(fields, 'WORKSPACE') })).data, {
          ID: ({ externalDashboardId }) => externalDashboardId,
          NAME: ({ name }) => name,
        }),
    },
    delete: {
      ...deletion,
      names: ['WORKSPACE', 'ID'],
      summary: 'delete a dashboard of the organization; refused while copies or embeds of it exist',
      run: async (call, fields) => {
        const input = { workspaceName: field(fields, 'WORKSPACE'), dashboardId: field(fields, 'ID') };
        const { id } = await call(deleteTemplate, input);
        return done(`deleted the dashboard ${id}`, { id });
      },
    },
  },
};

const dataApps: Resource = {
  actions: {
    list: {
      ...service,
      summary: 'list the data apps',
      run: async (call) =>
        listing((await call(listDataApps, {})).data, {
          NAME: ({ name }) => name,
          EMBEDS: ({ embedCount }) => embedCount,
          CREATED: ({ createdAt }) => createdAt,
        }),
    },
    create: {
      ...service,
      names: ['NAME'],
      summary: 'create a data app',
      run: async (call, fields) => {
        const name = field(fields, 'NAME');
        return done(`created the data app ${name}`, await call(createDataApp, { name }));
      },
    },
  },
};

type Credential = {
  readonly name: string;
  readonly keyHint: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

const listCredentials = (items: readonly Credential[]): Printed =>
  listing(items, {
    NAME: ({ name }) => name,
    'ENDS IN': ({ keyHint }) => keyHint,
    CREATED: ({ createdAt }) => createdAt,
    'LAST USED': ({ lastUsedAt }) => lastUsedAt,
  });

const keys: Resource = {
  actions: {
    list: {
      ...service,
      names: ['DATA_APP'],
      summary: 'list the API keys of a data app, without the keys themselves',
      run: async (call, fields) =>
        listCredentials((await call(listApiKeys, { dataAppName: field(fields, 'DATA_APP') })).data),
    },
    create: {
      ...service,
      names: ['DATA_APP', 'NAME'],
      summary: 'create an API key and print it; it is never shown again',
      run: async (call, fields) => {
        const input = { dataAppName: field(fields, 'DATA_APP'), name: field(fields, 'NAME') };
        const created = await call(createApiKey, input);
        return done(created.key, created);
      },
    },
    delete: {
      ...deletion,
      names: ['DATA_APP', 'NAME'],
      summary: 'end an API key at once',
      run: async (call, fields) => {
        const input = { dataAppName: field(fields, 'DATA_APP'), name: field(fields, 'NAME') };
        const deleted = await call(deleteApiKey, input);
        return done(`deleted the API key ${deleted.name}`, deleted);
      },
    },
  },
};

const serviceTokens: Resource = {
  actions: {
    list: {
      ...service,
      summary: 'list the service tokens, without the tokens themselves',
      run: async (call) => listCredentials((await call(listServiceTokens, {})).data),
    },
    create: {
      ...service,
      names: ['NAME'],
      summary: 'create a service token and print it; it is never shown again',
      run: async (call, fields) => {
        const created = await call(createServiceToken, { name: field(fields, 'NAME') });
        return done(created.key, created);
      },
    },
    delete: {
      ...deletion,
      names: ['NAME'],
      summary: 'end a service token at once; the last one cannot be ended',
      run: async (call, fields) => {
        const deleted = await call(deleteServiceToken, { name: field(fields, 'NAME') });
        return done(`deleted the service token ${deleted.name}`, deleted);
      },
    },
  },
};

const guestTokens: Resource = {
  actions: {
    list: {
      names: [],
      flags: ['client', 'user'],
      credential: 'apiKey',
      summary: 'list the valid guest tokens, without the tokens themselves',
      run: async (call, { client: clientId, user: userIdentifier }) =>
        listing((await call(listGuestTokens, { clientId, userIdentifier })).data, {
          ID: ({ id }) => id,
          TENANT: ({ clientId: of }) => of,
          CREATED: ({ createdAt }) => createdAt,
          EXPIRES: ({ expiresAt }) => expiresAt,
        }),
    },
    revoke: {
      names: ['ID'],
      credential: 'apiKey',
      summary: 'end one guest token, by its id in the list; "guestlist revoke" ends those of a user or a tenant',
      run: async (call, fields) => {
        const id = field(fields, 'ID');
        const { data } = await call(revokeGuestTokens, { id });
        if (data.revoked > 0) return done(`revoked the guest token ${id}`, data);
        throw new OperatorError(`No valid guest token has the id "${id}". "guestlist guest-tokens list" lists them.`);
      },
    },
  },
};

/** By the name of the command. */
export const resources: Readonly<Record<ResourceName, Resource>> = {
  datasources,
  datamarts,
  workspaces,
  dashboards,
  'data-apps': dataApps,
  keys,
  'service-tokens': serviceTokens,
  'guest-tokens': guestTokens,
};
