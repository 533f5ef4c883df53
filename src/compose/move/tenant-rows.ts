/**
 * What belongs to one tenant: which rows the file of a tenant holds, in the order in which they can be inserted, and why
 * it holds nothing of the other tables. A table that is in neither list does not compile, or is refused.
 */
import { type RawBuilder, sql } from 'kysely';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { schemaName, type Tables } from '../../service/store/tables.js';

const own = (clientId: string): RawBuilder<unknown> => sql`t.client_id = ${clientId}`;

const boards = (clientId: string): RawBuilder<unknown> =>
  sql`select id from guestlist.dashboards where client_id = ${clientId}`;
const metrics = (clientId: string): RawBuilder<unknown> =>
  sql`select metric_id from guestlist.metrics where client_id = ${clientId}`;

const ofBoard = (clientId: string): RawBuilder<unknown> => sql`t.dashboard_id in (${boards(clientId)})`;

const ofSchedule = (clientId: string): RawBuilder<unknown> =>
  sql`t.schedule_id in (select id from guestlist.schedules where client_id = ${clientId})`;

/** The condition on the rows of each table, which is named `t`. */
const conditions = {
  dashboards: own,
  metrics: own,
  dashboard_metrics: ofBoard,
  data_app_names: ofBoard,
  embeds: (clientId: string) => sql`${ofBoard(clientId)} or t.metric_id in (${metrics(clientId)})`,
  guest_metrics: own,
  guest_layouts: own,
  guest_views: own,
  guest_boards: own,
  schedules: own,
  schedule_stops: ofSchedule,
  alert_states: ofSchedule,
  usage: own,
} as const satisfies Partial<Record<keyof Tables, (clientId: string) => RawBuilder<unknown>>>;

export type Held = keyof typeof conditions;

const organization = 'it belongs to the organization, and is found by its name';
const credential = 'a credential or a session counts for its installation alone';
const installation = 'it is of the installation, and of no tenant';

/** Why a table of the service is not in the file. */
const leftOfService: Readonly<Record<Exclude<keyof Tables, Held>, string>> = {
  data_apps: organization,
  datasources: organization,
  client_databases: organization,
  datamarts: organization,
  semantic_layers: organization,
  workspaces: organization,
  api_keys: credential,
  service_tokens: credential,
  studio_sessions: credential,
  guest_tokens: credential,
  revocation_epochs: 'it ends tokens, of which the file has none',
  report_addresses: 'an address confirms to each installation anew',
  deliveries: 'it tells what one installation sent',
  sealing_canary: installation,
  content_revision: installation,
  usage_writers: installation,
  retention: installation,
  client_holds: 'a hold is of one installation, which says why',
  hold_versions: installation,
  usage_sending: installation,
  usage_messages: 'it tells what one installation sends',
  running_processes: installation,
  running_ends: installation,
};

/** Why a table of the ledger is not in the file. The state of the tenant is in its manifest. */
const leftOfLedger: Readonly<Record<keyof LedgerTables, string>> = {
  installation,
  tenants: 'its state is in the file, and its row is made anew',
  epoch_changes: installation,
  epochs: 'it ends tokens and sessions, of which the file has none',
  pending_revocations: 'it ends tokens, of which the file has none',
  processes: installation,
  leases: installation,
  recipients: credential,
  hook_deliveries: 'it tells what one installation received',
  erasures: 'it tells what one installation erased',
  dashboards: 'the next login verifies the copies anew',
  policy_tokens: installation,
  audit_segments: 'the chain of an installation is whole only there',
  retention: installation,
  holds: 'a hold is of one installation, which says why',
  audit_events: 'the chain of an installation is whole only there',
  audit_head: installation,
  tenant_keys: 'it opens entries of the audit of one installation',
  audit_explanations: 'it explains entries of the audit of one installation',
  policy_texts: installation,
  template_versions: organization,
  template_editions: organization,
  rollouts: organization,
  rollout_items: 'a roll-out of one installation wrote it',
};

/** Tables that the service writes without types. */
const leftBeside = ['client_erasures', 'kysely_migration', 'kysely_migration_aside', 'kysely_migration_lock'];

/** A table with rows of tenants, without its schema. */
export const heldTables = Object.keys(conditions) as readonly Held[];

/** The table of this name with its schema, if the file holds rows of it. */
export const heldTableOf = (name: string): Held | undefined =>
  heldTables.find((table) => name === `${schemaName}.${table}`);

const decided: ReadonlySet<string> = new Set([
  ...[...heldTables, ...Object.keys(leftOfService), ...leftBeside].map((name) => `${schemaName}.${name}`),
  ...[...Object.keys(leftOfLedger), ...leftBeside].map((name) => `${ledgerSchema}.${name}`),
]);

/** Throws if there is a table of which nobody has decided whether the file of a tenant holds it. */
export const assertDecided = (names: readonly string[]): void => {
  const unknown = names.filter((name) => !decided.has(name));
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')}: this version does not know whether rows of tenants are in it. Remove what something else made, or use the version that made it.`,
    );
};

/** The condition on the rows of the tenant, of a table that is named `t`. */
export const rowsOf = (table: Held, clientId: string): RawBuilder<unknown> => conditions[table](clientId);

/** The columns that name a row for others. A row whose name is taken elsewhere gets a new one. */
export const idColumns: Partial<Readonly<Record<Held, string>>> = {
  dashboards: 'id',
  metrics: 'metric_id',
  guest_metrics: 'metric_id',
  guest_views: 'id',
  guest_boards: 'id',
  schedules: 'id',
};

/** The columns that name a row of another table, which must be known where the rows are imported. */
export const referenceColumns: readonly string[] = [
  'data_app_id',
  'workspace_id',
  'template_id',
  'dashboard_id',
  'metric_id',
  'schedule_id',
];

/** The columns with the names that hosts and pages use. No two dashboards or embeds of a data app share one. */
export const publicNames: Partial<Readonly<Record<Held, string>>> = {
  dashboards: 'external_dashboard_id',
  data_app_names: 'name',
  embeds: 'embed_id',
  schedules: 'opened_id',
};
