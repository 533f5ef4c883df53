/** `guestlist init`: from the URL of a database to a service with a first dashboard, in files that the operator keeps. */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { createEngine } from '../../engine/engine.js';
import { isFreeClaim } from '../../gateway/policy-tools/claim-name.js';
import type { Facts } from '../../model/dashboard/first/facts.js';
import { type FirstDashboard, firstDashboard } from '../../model/dashboard/first/first-dashboard.js';
import { type Datamart, qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import {
  type Choices,
  type Draft,
  draftByBestWays,
  draftDatamart,
  type TakenBridge,
} from '../../model/datamart/model-draft.js';
import { amountsFor, proposeBridges, proposeFor, type SourceProposals } from '../../model/datamart/source-proposals.js';
import { offeredTables, type SourceTable } from '../../model/datamart/source-schema.js';
import { placeOf, sourceNameOf, urlExamples } from '../../model/datamart/source-url.js';
import { namesAtOnce } from '../../model/datamart/tenant-name.js';
import type { Datasource, DatasourceConnection } from '../../model/organization.js';
import type { Engine } from '../../model/query/engine.js';
import { type AskMetric, createAsk } from '../../model/query/first/ask.js';
import { findFacts } from '../../model/query/first/found-facts.js';
import { countTenantless } from '../../model/query/first/tenantless.js';
import { type TriedDashboard, tryDashboard } from '../../model/query/first/tried.js';
import { Refusal } from '../../model/refusal.js';
import { counted } from '../../model/texts/counted.js';
import { presetNames } from '../../platform/config/presets.js';
import { systemClock } from '../../platform/work/time.js';
import { collect, readCount, readNames } from '../kit/declare.js';
import { WrongCall } from '../kit/exit.js';
import { printable, withProgress } from '../kit/terminal.js';
import { askAmounts, takenAmounts } from './amounts.js';
import { applyDefinitions, dashboardDefinition, datamartDefinition, type ReadServiceToken } from './apply.js';
import { askBaseFilters, takenBaseFilters } from './base-filters.js';
import { askBridges, readBridges } from './bridges.js';
import {
  environmentFile,
  hostPageFile,
  ignoreFile,
  pageLines,
  policyFile,
  policyTestFile,
  type Setup,
  serviceUrlOf,
  settingsFile,
  trialOrigin,
} from './files.js';
import { askLogin, type LoginFlags, readLogin } from './login.js';
import { choosePort, usualPort } from './port.js';
import {
  type Asking,
  askClientColumn,
  askDatabase,
  askingOf,
  askOrigin,
  askShared,
  askTenantTable,
  type Flags,
  type TenantChoice,
  withoutTables,
} from './questions.js';
import { draftReport, tablesReport, tenantlessReport } from './report.js';
import { chooseRestriction, restrictionReport, withRestriction } from './restrict.js';
import { readDatabaseUrl } from './source.js';
import { askCharts, askTables } from './wanted.js';
import { askWays, readPaths } from './ways.js';

/** Files that a second `init` would overwrite. */
const ownFiles = [
  'guestlist.yaml',
  'guestlist.env',
  'policy.yaml',
  'policy.test.yaml',
  'host-page.mjs',
  'definitions',
  'data',
] as const;

const assertFresh = (folder: string): void => {
  const there = ownFiles.filter((name) => existsSync(join(folder, name)));
  if (there.length === 0) return;
  throw new WrongCall(
    `${there.join(', ')} in this folder would be overwritten: start in an empty folder, or remove them first`,
  );
};

const readClaim = (text: string): string => {
  if (isFreeClaim(text)) return text;
  throw new InvalidArgumentError('Give letters, digits and _, and no name that has another meaning, such as roles.');
};

const readPort = (text: string): number => {
  const port = readCount(text);
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('Give a port from 1 to 65535.');
};

type Source = {
  readonly connection: DatasourceConnection;
  readonly tables: readonly SourceTable[];
  readonly ask: AskMetric;
  /** Names of tenants by their ids, as far as the table of tenants has any. */
  readonly namesOf: (datamart: Datamart, tenants: readonly string[]) => Promise<Setup['tenantNames']>;
};

const namesTimeoutMs = 5_000;

const createNamesOf =
  (engine: Pick<Engine, 'tenantNames'>, datasource: Datasource): Source['namesOf'] =>
  async ({ tenancy }, clientIds) => {
    if (tenancy?.tenancyLevel !== 'TABLE') return {};
    const { schemaName, tableName, clientColumnType } = tenancy;
    const [keyColumn, nameColumn] = [tenancy.tablePrimaryKeyColumn, tenancy.tableClientNameColumn];
    const master = { schemaName, tableName, keyColumn, nameColumn, clientColumnType };
    const wanted = { by: 'id', clientIds } as const;
    const asked = { datasource, master, limit: namesAtOnce, wanted, timeoutMs: namesTimeoutMs };
    const found = await engine.tenantNames(asked, new AbortController().signal);
    return Object.fromEntries(found.flatMap(({ clientId, name }) => (name === null ? [] : [[clientId, name]])));
  };

/** Opens the database, and closes it after `work`. A failed connection is told with the driver's own words: the operator asked. */
const withSource = async <R>(connection: DatasourceConnection, work: (source: Source) => Promise<R>): Promise<R> => {
  const told: string[] = [];
  const hear = (details: object): void => {
    if ('err' in details && details.err instanceof Error) told.push(details.err.message);
  };
  const engine = createEngine({
    clock: systemClock,
    log: { warn: hear, error: hear },
    assertReachable: async () => {},
    maxConnections: 4,
  });
  const datasource = { id: 'init', name: sourceNameOf(connection), syncedAt: null, ...connection };
  try {
    const tables = offeredTables(await engine.introspect(datasource));
    return await work({
      ...{ connection, tables },
      ask: createAsk(engine, datasource),
      namesOf: createNamesOf(engine, datasource),
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const because = told.length === 0 ? '' : `\n  because: ${[...new Set(told)].join('; ')}`;
    throw new Error(`${placeOf(connection)}: ${error.message}${because}`, { cause: error });
  } finally {
    await engine.close();
  }
};

type Chosen = { readonly draft: Draft; readonly facts: Facts };

const chooseTables = async (
  asking: Asking,
  flags: Flags,
  { connection, tables: all, ask }: Source,
): Promise<Chosen> => {
  if (all.length === 0) throw new WrongCall(`${placeOf(connection)} has no table that this user may read`);
  console.log(`\n${counted(all.length, 'table')} in ${placeOf(connection)}\n${tablesReport(all)}\n`);
  const tables = withoutTables(all, flags.withoutTable);
  const proposals = proposeFor(tables);
  const tenants = await askTenantTable(asking, flags, tables, proposals);
  const clientColumn = await askClientColumn(asking, flags, tables, tenants, proposals);
  const draft = await draftFrom(asking, flags, {
    tables,
    proposals,
    tenants,
    clientColumn,
    name: sourceNameOf(connection),
  });
  const find = (ref: TableRef) => tables.find((table) => sameTable(table, ref));
  const tenantless = await countTenantless(ask, draft.datamart, draft.owned, find);
  if (tenantless.length > 0) console.log(`${tenantlessReport(tenantless)}\n`);
  return { draft, facts: await findFacts(ask, draft.datamart, draft.owned, find) };
};

type Answered = {
  readonly name: string;
  readonly tables: readonly SourceTable[];
  readonly proposals: SourceProposals;
  readonly tenants: TenantChoice;
  readonly clientColumn: string | undefined;
};

/** Drafts the model, shows it, and takes what the operator wants of it and of what is proposed beside it. */
const draftFrom = async (
  asking: Asking,
  flags: Flags,
  { tables, proposals: { relationships, baseFilters }, tenants, clientColumn, name }: Answered,
): Promise<Draft> => {
  const names = { name, tenantTable: tenants.table, keyColumn: tenants.keyColumn, clientColumn };
  const bridges = proposeBridges(tables, relationships, tenants.table);
  const amounts = amountsFor(tables, relationships, tenants.table);
  const given = readPaths(flags.tenancyPath ?? [], tables, relationships);
  const flagged = {
    bridges: readBridges(flags.through ?? [], tables, bridges),
    baseFilters: takenBaseFilters(flags, tables, baseFilters),
    amounts: takenAmounts(flags, tables, amounts),
  };
  const plain = { ...names, ...flagged, paths: given, shared: [] };
  const draftFor = (choices: Partial<Choices>, wanted = tables): Draft =>
    draftDatamart(wanted, relationships, { ...plain, ...choices });
  const paths =
    asking === null
      ? draftByBestWays(tables, relationships, plain).paths
      : await askWays(asking, (chosen) => draftFor({ paths: chosen }), given);
  const shared = await askShared(asking, flags, tables, draftFor({ paths }).leftOut);
  const open = bridges.filter((one) => !shared.includes(qualifiedName(one)));
  assertNotShared(flagged.bridges, shared);
  assertNobodysRows(shared, draftFor({ paths }), relationships, tenants);
  const plan = { chosen: paths, given, bridges: open, baseFilters, isAsked: asking !== null };
  console.log(`${draftReport(draftFor({ paths, shared }), plan)}\n`);
  const taken = { paths, shared, bridges: await askBridges(asking, open, flagged.bridges) };
  const whole = draftFor(taken);
  const here = (one: TableRef): boolean => whole.datamart.tables.some((table) => sameTable(table, one));
  const last = {
    baseFilters: await askBaseFilters(asking, baseFilters.filter(here), flagged.baseFilters),
    amounts: await askAmounts(asking, amounts.filter(here), flagged.amounts),
  };
  return askTables(asking, { tables, draftFor: (wanted) => draftFor({ ...taken, ...last }, wanted) });
};

const assertNotShared = (bridges: readonly TakenBridge[], shared: readonly string[]): void => {
  const both = bridges.map(qualifiedName).find((name) => shared.includes(name));
  if (both === undefined) return;
  throw new WrongCall(`${both} is named by --through and by --shared: name it by one of them`);
};

/** Refuses to share a table with a column that refers to tenants: each would read the rows of all others. */
const assertNobodysRows = (
  shared: readonly string[],
  { datamart }: Draft,
  relationships: SourceProposals['relationships'],
  { table: tenants }: TenantChoice,
): void => {
  for (const name of shared) {
    const leading = relationships.find(
      ({ parent, child }) => qualifiedName(parent) === name && sameTable(child, tenants),
    );
    const table = datamart.tables.find((one) => qualifiedName(one) === name);
    const column = table?.clientColumn ?? leading?.parent.columnName;
    if (column === undefined) continue;
    throw new WrongCall(
      `--shared ${name}: its column ${column} says whose a row is, so all tenants would read the rows of each. To share the rows where it is empty, share a view of them`,
    );
  }
};

/** Runs each chart for the tenant with the most rows, and keeps those that answer something. */
const tryCharts = async (ask: AskMetric, { draft: { datamart }, facts }: Chosen): Promise<TriedDashboard> => {
  const [tenant] = facts.tenants;
  if (tenant === undefined)
    throw new Error('no table with a tenant has rows yet: there is nothing to show in a dashboard');
  return tryDashboard(ask, datamart, tenant, firstDashboard(datamart, facts));
};

const writeAll = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    // Only the owner reads secrets.
    await writeFile(join(folder, name), text, name.endsWith('.env') ? { mode: 0o600 } : {});
  }
};

/** Removes what a failed `init` had written: `assertFresh` said that nothing of it was there before. */
const removeAll = async (folder: string): Promise<void> => {
  for (const name of ownFiles) await rm(join(folder, name), { recursive: true, force: true });
};

type Built = { readonly setup: Setup; readonly draft: Draft; readonly dashboard: FirstDashboard };

const build = async (
  folder: string,
  { setup, draft, dashboard }: Built,
  readServiceToken: ReadServiceToken,
): Promise<void> => {
  const datamart = datamartDefinition(draft.datamart);
  const exported = dashboardDefinition(setup.dashboard.id, setup.dashboard.title, dashboard);
  const secrets = { GUESTLIST_HOST_JWT_SECRET: randomBytes(48).toString('base64url') };
  const gitignore = join(folder, '.gitignore');
  try {
    await writeAll(folder, {
      'guestlist.yaml': settingsFile(setup),
      'guestlist.env': environmentFile(secrets),
      'policy.yaml': policyFile(setup),
      'policy.test.yaml': policyTestFile(setup),
      'host-page.mjs': hostPageFile(setup),
      '.gitignore': ignoreFile(existsSync(gitignore) ? await readFile(gitignore, 'utf8') : ''),
    });
    const { name, connection } = setup;
    const definitions = { name, connection, datamart, dashboard: exported };
    const apiKey = await applyDefinitions(folder, definitions, readServiceToken);
    await writeAll(folder, { 'guestlist.env': environmentFile({ ...secrets, GUESTLIST_API_KEY: apiKey }) });
  } catch (error) {
    await removeAll(folder);
    throw error;
  }
};

const sessionWords = ({ login, claim }: Setup): string =>
  login === null
    ? `sign your sessions with GUESTLIST_HOST_JWT_SECRET of guestlist.env (HS256, the claim
${claim} holds the tenant)`
    : `give it the session token of ${login.provider} as yourSessionJwt (take the secret out of guestlist.env then:
it signs the sessions of host-page.mjs)`;

const closingWords = (
  setup: Setup,
  { dashboard, refused }: Pick<TriedDashboard, 'dashboard' | 'refused'>,
): string => `${counted(dashboard.metrics.length, 'chart')}: ${dashboard.metrics.map(({ name }) => name).join('; ')}
${refused.map(({ name, reason }) => printable(`left out, since it cannot be asked: ${name}: ${reason}\n`)).join('')}${printable(restrictionReport(setup.restricted))}
Written: guestlist.yaml, guestlist.env (secrets), policy.yaml, policy.test.yaml, definitions/, host-page.mjs, data/

${setup.port === usualPort ? '' : `Guestlist will listen on port ${setup.port}.\n`}
Next:
  npx guestlist serve            then, in a second terminal:
  node host-page.mjs             shows the dashboard of ${setup.tenants[0]} at ${trialOrigin}
  npx guestlist policy test policy.test.yaml

For your own page at ${setup.origin}: ${sessionWords(setup)}, and add

${pageLines(serviceUrlOf(setup))}

This is the set-up with one gateway: \`guestlist serve\` runs gateway and service. To mount the gateway in your own server
instead, run \`guestlist serve --only service\`, and see docs/explanation/replicas.md.`;

type Given = Flags &
  LoginFlags & {
    readonly claim: string;
    readonly claimOfSeveral?: string;
    readonly restrictBy?: string;
    readonly port?: number;
    readonly yes?: true;
  };

const run = async ({ yes, claim, ...values }: Given, readServiceToken: ReadServiceToken): Promise<void> => {
  const folder = resolve('.');
  assertFresh(folder);
  if (claim === values.claimOfSeveral) throw new WrongCall(`--claim-of-several ${claim}: name another than --claim`);
  const port = await choosePort(values.port);
  const asking = await askingOf(yes);
  const login = await askLogin(asking, values);
  const connection = readDatabaseUrl(await askDatabase(asking, values));
  await withSource(connection, async (source) => {
    const chosen = await chooseTables(asking, values, source);
    const origin = await askOrigin(asking, values, trialOrigin);
    const all = await withProgress((say) => {
      say('trying the charts on your data');
      return tryCharts(source.ask, chosen);
    });
    const wanted = await askCharts(asking, values, all.dashboard);
    // What says in a provider's session that a user is restricted, only the host knows.
    const restricted =
      login === null ? chooseRestriction(values.restrictBy, chosen.draft.datamart, chosen.facts, wanted) : null;
    const tried = { ...all, dashboard: withRestriction(wanted, restricted) };
    const setup: Setup = {
      name: sourceNameOf(connection),
      dashboard: { id: 'overview', title: 'Overview' },
      connection,
      port,
      origin,
      claim,
      claimOfSeveral: values.claimOfSeveral ?? null,
      login,
      restricted,
      tenants: chosen.facts.tenants,
      tenantNames: await source.namesOf(chosen.draft.datamart, chosen.facts.tenants),
    };
    await withProgress((say) => {
      say('writing the folder and creating the dashboard');
      return build(folder, { setup, draft: chosen.draft, dashboard: tried.dashboard }, readServiceToken);
    });
    console.log(closingWords(setup, tried));
  });
};

const throughText =
  'a table whose rows several tenants share, such as users, and the columns that they read of it, with commas between them (repeatable); without columns, its names; the table is left out if it is not named';
const restrictText =
  'the category of which restricted users see one value, of any table that charts lead to; the best if left out';
const databaseOption = new Option(
  '--database <url>',
  `${urlExamples}. Other users of the machine see a password in an argument, and none in the variable`,
).env('GUESTLIST_INIT_DATABASE');
const uncertain = 'base filters that may leave out too much';

/** Throws WrongCall, and Error with what to mend. */
export const initCommand = (readServiceToken: ReadServiceToken) =>
  new Command()
    .description(
      `Leads from a database of yours to a first dashboard. It looks at the database, asks what it cannot know, and writes into this
folder: guestlist.yaml and guestlist.env (the configuration), policy.yaml with tests, definitions/ (the datamart and a
dashboard), host-page.mjs (a page to try them), and data/ (the metadata). Then "guestlist serve" runs it. The database is
only read.

A table whose rows have no tenant is left out, and init says why. Without a terminal it asks nothing.`,
    )
    .addOption(databaseOption)
    .option('--tenant-table <table>', 'the table that lists your customers, each of which is a tenant')
    .option('--client-column <column>', "the column of the other tables that holds a tenant's key")
    .option(
      '--shared <tables>',
      'tables whose every row all tenants may read, with commas between them; none if left out',
      readNames,
    )
    .option(
      '--tenancy-path <table=relationship>',
      'for a table from which several ways lead to a tenant: the one to follow (repeatable); the best if left out',
      collect,
    )
    .option('--through <table=columns>', throughText, collect)
    .option('--base-filter <tables>', `tables whose ${uncertain} are taken too`, readNames)
    .option('--without-base-filter <tables>', 'tables whose every row is read, deleted ones and tests too', readNames)
    .option('--without-amounts <tables>', 'tables whose numbers stay as they are stored, cents too', readNames)
    .option('--without-table <tables>', 'tables to leave out of the model, with commas between them', readNames)
    .option('--without <chart>', 'a chart to leave out of the dashboard, by its name (repeatable)', collect)
    .option('--origin <origin>', `where your pages run; ${trialOrigin} if left out`)
    .option('--claim <name>', 'the claim of your sessions that holds the tenant', readClaim, 'tenant_id')
    .option(
      '--claim-of-several <name>',
      'the claim that lists the tenants of a user who has several and chooses',
      readClaim,
    )
    .option('--restrict-by <column>', restrictText)
    .option('--login <provider>', `your login provider: ${presetNames.join(', ')}`, readLogin)
    .option('--issuer <iss>', 'with --login: the iss of its tokens')
    .option('--audience <aud>', 'with --login: the aud of its tokens')
    .option('--jwks-url <url>', 'with --login: the address of its keys, where they cannot be found')
    .option('--port <port>', 'the port of Guestlist; the first free one from 3000 if left out', readPort)
    .option('-y, --yes', "ask nothing: options, and what the database's keys and names propose")
    .action((given) => run(given, readServiceToken));
