/** The commands for the objects of the service, and the operations of the interface behind each. */

import { text } from 'node:stream/consumers';
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { grainOf } from '../model/datamart/source-schema.js';
import { nearestName } from '../model/nearest-name.js';
import type { RollupReport } from '../model/query/engine.js';
import { counted } from '../model/texts/counted.js';
import type { AnswerOf } from '../platform/http/interface/callable.js';
import type { Call } from '../platform/http/interface/client.js';
import { deleteTemplate } from '../service/dashboards/contract/dashboards.js';
import { listDashboards } from '../service/dashboards/contract/workspace-dashboards.js';
import { createDataApp, listDataApps } from '../service/data-apps/contract/data-apps.js';
import { deleteDatamart, listDatamarts } from '../service/datamarts/contract/datamarts.js';
import { buildRollup, listRollups, proposeRollups } from '../service/datamarts/contract/rollups.js';
import {
  deleteDatasource,
  listDatasources,
  updateDatasourceLogin,
} from '../service/datasources/contract/datasources.js';
import { listDatasourceTables } from '../service/datasources/contract/tables.js';
import { listGuestTokens, revokeGuestTokens } from '../service/guest-tokens/contract/admin.js';
import { createApiKey, deleteApiKey, listApiKeys } from '../service/keys/contract/api-keys.js';
import { createServiceToken, deleteServiceToken, listServiceTokens } from '../service/keys/contract/service-tokens.js';
import { deleteWorkspace, listWorkspaces } from '../service/workspaces/contract.js';
import { answerTo, askingOf } from './init/questions.js';
import { type Answer, jsonOption, printAnswer, serviceUrl, yesOption } from './kit/declare.js';
import { WrongCall } from './kit/exit.js';
import { printable, tableText } from './kit/terminal.js';
import { OperatorError } from './operator.js';
import { resealCommand } from './reseal.js';
import { connectToService, type OperatorCredential } from './service-client.js';

type Cell = string | number | null | undefined;

const listing = <Item>(items: readonly Item[], columns: Readonly<Record<string, (item: Item) => Cell>>): Answer => {
  const rows = items.map((item) => Object.values(columns).map((column) => String(column(item) ?? '-')));
  return { json: items, text: tableText(Object.keys(columns), rows) };
};

const done = (text: string, json: unknown): Answer => ({ json, text: printable(text) });

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

type Given = { readonly json?: true; readonly url?: string };
type Ask = (call: Call) => Promise<Answer>;

const asksWith = (credential: string): string => `\nIt asks the running service with ${credential}.`;

const serviceCommand = (name: string, credential = 'GUESTLIST_SERVICE_TOKEN, or the token in the data folder') =>
  new Command(name).addOption(jsonOption).addOption(serviceUrl).addHelpText('after', asksWith(credential));

const deletion = () => serviceCommand('delete').addOption(yesOption);

const tell = async ({ json, url }: Given, ask: Ask, credential: OperatorCredential = 'serviceToken'): Promise<void> => {
  printAnswer(json, await ask(await connectToService(credential, url)));
};

const remove = async ({ yes, ...given }: Given & { readonly yes?: true }, ask: Ask): Promise<void> => {
  if (!yes) throw new WrongCall('a deletion cannot be undone, and nothing was done. To do it, add --yes');
  await tell(given, ask);
};

const groupOf = (...commands: readonly CommandUnknownOpts[]): CommandUnknownOpts => {
  const group = new Command();
  for (const command of commands) group.addCommand(command);
  return group;
};

/** Asked for at a terminal, else read from the standard input: an argument would be seen by other users of the machine. */
const readPassword = async (datasource: string): Promise<string> => {
  const asking = await askingOf(undefined);
  if (asking === null) return (await text(process.stdin)).replace(/\r?\n$/, '');
  return answerTo(asking, asking.password({ message: `The new password of ${datasource}` }));
};

export const datasourcesCommand = groupOf(
  serviceCommand('list')
    .summary('list the datasources, without their credentials')
    .action((given) =>
      tell(given, async (call) =>
        listing((await call(listDatasources, {})).data, {
          NAME: ({ name }) => name,
          TYPE: ({ datasourceType }) => datasourceType,
          'TABLES READ': ({ syncedAt }) => syncedAt,
        }),
      ),
    ),
  serviceCommand('tables')
    .summary('list the tables of a datasource; --json has columns, keys and proposed relationships')
    .argument('<datasource>')
    .action((name, given) =>
      tell(given, async (call) => {
        const { data } = await call(listDatasourceTables, { name });
        const { text } = listing(data.tables, {
          TABLE: ({ schemaName, tableName }) => `${schemaName}.${tableName}`,
          KIND: ({ kind }) => kind,
          COLUMNS: ({ columns }) => columns.length,
          'ROWS (ESTIMATED)': ({ estimatedRows }) => estimatedRows,
          KEY: (table) => grainOf(table).join(', ') || 'no key known',
        });
        return { json: data, text };
      }),
    ),
  serviceCommand('set-password')
    .summary('change the password of a datasource; it is asked for, or read from the standard input')
    .argument('<datasource>')
    .option('--user <name>', 'the user of the database; left out: the user stays')
    .action((name, { user: username, ...given }) =>
      tell(given, async (call) => {
        const password = await readPassword(name);
        const changed = await call(updateDatasourceLogin, { name, username, password });
        return done(`the datasource ${changed.name} was reached with the new password, which is stored`, changed);
      }),
    ),
  deletion()
    .summary('delete a datasource; refused while something stands on it')
    .argument('<datasource>')
    .action((name, given) =>
      remove(given, async (call) => {
        const deleted = await call(deleteDatasource, { name });
        return done(`deleted the datasource ${deleted.name}`, deleted);
      }),
    ),
);

const listAllDatamarts = async (call: Call, expandDetails: boolean) =>
  (await call(listDatamarts, { expandDetails })).data;

const rollupColumns = {
  ROLLUP: ({ name }: RollupReport) => name,
  STATE: ({ state }: RollupReport) => state,
  'CLOSED UNTIL': ({ closedUntil }: RollupReport) => closedUntil,
  CHECKED: ({ checkedAt }: RollupReport) => checkedAt,
  FILES: ({ files }: RollupReport) => files,
  ROWS: ({ rows }: RollupReport) => rows,
  'ROWS OF THE SOURCE': ({ sourceRows }: RollupReport) => sourceRows,
  MB: ({ bytes }: RollupReport) => (bytes / 1_000_000).toFixed(1),
};

type Proposal = AnswerOf<typeof proposeRollups>['data'];

/** With JSON to be pasted into the datamart. */
const proposalText = ({ proposed, left }: Proposal): string => {
  const namesOf = (names: readonly string[]): string => (names.length === 0 ? 'metrics of guests' : names.join(', '));
  const parts = proposed.map(
    ({ rollup, reason, names }) =>
      `${reason}\nMetrics: ${namesOf(names)}\nAdd to "rollups" of the datamart:\n${JSON.stringify(rollup, null, 2)}`,
  );
  const others = left.map(
    ({ why, names, queries, ms }) =>
      `Not by a rollup, since ${why}: ${namesOf(names)} (${counted(queries, 'query', 'queries')}, ${(ms / 1000).toFixed(1)} s)`,
  );
  const none = proposed.length === 0 ? ['Nothing is proposed.'] : [];
  return [...none, ...parts, ...others].join('\n\n');
};

export const rollupsCommand = groupOf(
  serviceCommand('list')
    .summary('list the rollups of a datamart and their files')
    .argument('<datamart>')
    .action((datamartName, given) =>
      tell(given, async (call) => listing((await call(listRollups, { datamartName })).data, rollupColumns)),
    ),
  serviceCommand('propose')
    .summary('propose rollups of a datamart, out of what was asked most')
    .argument('<datamart>')
    .option('--days <number>', 'the time that is looked at', Number, 28)
    .action((datamartName, { days, ...given }) =>
      tell(given, async (call) => {
        const { data } = await call(proposeRollups, { datamartName, days });
        return { json: data, text: printable(proposalText(data)) };
      }),
    ),
  serviceCommand('build')
    .summary('build the rollups of a datamart, or the one that is named')
    .argument('<datamart>')
    .argument('[rollup]')
    .option('--all', 'build all closed periods anew, also those that seem to be up to date')
    .action((datamartName, rollup, { all, ...given }) =>
      tell(given, async (call) => {
        const { data } = await call(listRollups, { datamartName });
        const chosen = rollup === undefined ? data : [findNamed('rollup', data, rollup)];
        const built: RollupReport[] = [];
        for (const { name: rollupName } of chosen)
          built.push((await call(buildRollup, { datamartName, rollupName, isWhole: all === true })).data);
        return listing(built, rollupColumns);
      }),
    ),
);

export const datamartsCommand = groupOf(
  serviceCommand('list')
    .summary('list the datamarts')
    .action((given) =>
      tell(given, async (call) =>
        listing(await listAllDatamarts(call, false), {
          NAME: ({ name }) => name,
          DATASOURCE: ({ companyIntegration }) => companyIntegration.name,
          TENANCY: ({ datamartOrganization }) => datamartOrganization?.tenancyLevel,
          CHANGED: ({ updatedAt }) => updatedAt,
        }),
      ),
    ),
  serviceCommand('show')
    .summary('list the columns that metrics of a datamart may use')
    .argument('<datamart>')
    .action((name, given) =>
      tell(given, async (call) => {
        const datamart = findNamed('datamart', await listAllDatamarts(call, true), name);
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
      }),
    ),
  deletion()
    .summary('delete a datamart with its semantic layer and its embeds')
    .argument('<datamart>')
    .action((name, given) =>
      remove(given, async (call) => {
        findNamed('datamart', await listAllDatamarts(call, false), name);
        return done(`deleted the datamart ${name}`, await call(deleteDatamart, { datamartName: name }));
      }),
    ),
);

export const workspacesCommand = groupOf(
  serviceCommand('list')
    .summary('list the workspaces')
    .action((given) =>
      tell(given, async (call) =>
        listing((await call(listWorkspaces, {})).data, {
          NAME: ({ name }) => name,
          'CONNECTED TO': ({ connectionType }) => connectionType,
        }),
      ),
    ),
  deletion()
    .summary('delete a workspace; refused while it has dashboards')
    .argument('<workspace>')
    .action((name, given) =>
      remove(given, async (call) => {
        const { data } = await call(deleteWorkspace, { name });
        return done(`deleted the workspace ${data.name}`, data);
      }),
    ),
);

export const dashboardsCommand = groupOf(
  serviceCommand('list')
    .summary('list the dashboards of a workspace')
    .argument('<workspace>')
    .action((workspaceName, given) =>
      tell(given, async (call) =>
        listing((await call(listDashboards, { workspaceName })).data, {
          ID: ({ externalDashboardId }) => externalDashboardId,
          NAME: ({ name }) => name,
        }),
      ),
    ),
  deletion()
    .summary('delete a dashboard of the organization; refused while copies or embeds of it exist')
    .argument('<workspace>')
    .argument('<id>')
    .action((workspaceName, dashboardId, given) =>
      remove(given, async (call) => {
        const { id } = await call(deleteTemplate, { workspaceName, dashboardId });
        return done(`deleted the dashboard ${id}`, { id });
      }),
    ),
);

export const dataAppsCommand = groupOf(
  serviceCommand('list')
    .summary('list the data apps')
    .action((given) =>
      tell(given, async (call) =>
        listing((await call(listDataApps, {})).data, {
          NAME: ({ name }) => name,
          EMBEDS: ({ embedCount }) => embedCount,
          CREATED: ({ createdAt }) => createdAt,
        }),
      ),
    ),
  serviceCommand('create')
    .summary('create a data app')
    .argument('<name>')
    .action((name, given) =>
      tell(given, async (call) => done(`created the data app ${name}`, await call(createDataApp, { name }))),
    ),
);

type Credential = {
  readonly name: string;
  readonly keyHint: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

const listCredentials = (items: readonly Credential[]): Answer =>
  listing(items, {
    NAME: ({ name }) => name,
    'ENDS IN': ({ keyHint }) => keyHint,
    CREATED: ({ createdAt }) => createdAt,
    'LAST USED': ({ lastUsedAt }) => lastUsedAt,
  });

export const keysCommand = groupOf(
  serviceCommand('list')
    .summary('list the API keys of a data app, without the keys themselves')
    .argument('<data-app>')
    .action((dataAppName, given) =>
      tell(given, async (call) => listCredentials((await call(listApiKeys, { dataAppName })).data)),
    ),
  serviceCommand('create')
    .summary('create an API key and print it; it is never shown again')
    .argument('<data-app>')
    .argument('<name>')
    .action((dataAppName, name, given) =>
      tell(given, async (call) => {
        const created = await call(createApiKey, { dataAppName, name });
        return done(created.key, created);
      }),
    ),
  deletion()
    .summary('end an API key at once')
    .argument('<data-app>')
    .argument('<name>')
    .action((dataAppName, name, given) =>
      remove(given, async (call) => {
        const deleted = await call(deleteApiKey, { dataAppName, name });
        return done(`deleted the API key ${deleted.name}`, deleted);
      }),
    ),
  resealCommand,
);

export const serviceTokensCommand = groupOf(
  serviceCommand('list')
    .summary('list the service tokens, without the tokens themselves')
    .action((given) => tell(given, async (call) => listCredentials((await call(listServiceTokens, {})).data))),
  serviceCommand('create')
    .summary('create a service token and print it; it is never shown again')
    .argument('<name>')
    .action((name, given) =>
      tell(given, async (call) => {
        const created = await call(createServiceToken, { name });
        return done(created.key, created);
      }),
    ),
  deletion()
    .summary('end a service token at once; the last one cannot be ended')
    .argument('<name>')
    .action((name, given) =>
      remove(given, async (call) => {
        const deleted = await call(deleteServiceToken, { name });
        return done(`deleted the service token ${deleted.name}`, deleted);
      }),
    ),
);

export const guestTokensCommand = groupOf(
  serviceCommand('list', 'GUESTLIST_API_KEY')
    .summary('list the valid guest tokens, without the tokens themselves')
    .option('--client <id>', 'only those of a tenant')
    .option('--user <id>', 'only those of a user')
    .action(({ client: clientId, user: userIdentifier, ...given }) =>
      tell(
        given,
        async (call) =>
          listing((await call(listGuestTokens, { clientId, userIdentifier })).data, {
            ID: ({ id }) => id,
            TENANT: ({ clientId: of }) => of,
            CREATED: ({ createdAt }) => createdAt,
            EXPIRES: ({ expiresAt }) => expiresAt,
          }),
        'apiKey',
      ),
    ),
  serviceCommand('revoke', 'GUESTLIST_API_KEY')
    .summary('end one guest token, by its id in the list; "guestlist revoke" ends those of a user or a tenant')
    .argument('<id>')
    .action((id, given) =>
      tell(
        given,
        async (call) => {
          const { data } = await call(revokeGuestTokens, { id });
          if (data.revoked > 0) return done(`revoked the guest token ${id}`, data);
          throw new OperatorError(`No valid guest token has the id "${id}". "guestlist guest-tokens list" lists them.`);
        },
        'apiKey',
      ),
    ),
);
