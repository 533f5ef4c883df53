/**
 * Imports the file of one tenant into another installation, or under another id: all rows in one transaction, or none.
 * What the rows name of the organization is found by its name. A row whose id is taken gets a new one, wherever it is
 * named. Secrets are sealed with the key of this installation.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { appendWithin } from '../../gateway/audit/append.js';
import { dashboardIdOf } from '../../gateway/common/dashboard-id.js';
import { loadRefOf } from '../../gateway/ledger/ledger.js';
import { type LedgerTables, schemaName as ledgerSchema } from '../../gateway/ledger/tables.js';
import { applyTenantEvent } from '../../gateway/tenant/records.js';
import { tenantRecipient } from '../../model/schedule/host-schedule.js';
import {
  checkBackup,
  type Manifest,
  type Need,
  type OpenedBackup,
  readBackup,
} from '../../platform/databases/move/backup-file.js';
import type { Table } from '../../platform/databases/move/catalog.js';
import { insertRows, setFormats, type TextRow } from '../../platform/databases/move/rows.js';
import { createSealer, type KeyRing } from '../../platform/keys/sealing.js';
import { schemaName } from '../../service/store/tables.js';
import { readSealed } from './backup.js';
import type { Say } from './ends.js';
import { assertTenantId, columnAt, countTenantRows, mapSealed } from './export-tenant.js';
import { type Held, heldTableOf, idColumns, publicNames, referenceColumns } from './tenant-rows.js';
import { type Configured, openWritable, type Surroundings, type WritableEnd } from './writable.js';

export type ImportRequest = {
  /** The path of the file. */
  readonly from: string;
  readonly ring: KeyRing;
  /** The id that the tenant has here. Undefined: that of the file. */
  readonly as: string | undefined;
  /** Whether nothing is written. */
  readonly isDry: boolean;
  readonly say: Say;
};

export type ImportedTenant = Pick<Manifest, 'at' | 'madeBy'> & {
  readonly to: string;
  readonly isDry: boolean;
  readonly clientId: string;
  readonly state: 'active' | 'suspended';
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** Rows that got a new id, because theirs is taken. */
  readonly newIds: number;
  /** Names of dashboards and embeds that contain the tenant's id, and their new names. */
  readonly renamed: readonly (readonly [string, string])[];
  /** Reports of the host that users of the tenant ended, and that are not here. */
  readonly unknownReports: number;
};

type TenantManifest = Manifest & { readonly tenant: NonNullable<Manifest['tenant']> };
type TenantFile = OpenedBackup & { readonly manifest: TenantManifest };

const readFile = async ({ from, ring }: ImportRequest): Promise<TenantFile> => {
  const opened = await readBackup(readSealed(from, ring));
  const { tenant } = opened.manifest;
  if (tenant === undefined)
    throw new Error(`${from} is the backup of an installation: guestlist restore reads it. Name the file of a tenant.`);
  return { ...opened, manifest: { ...opened.manifest, tenant } };
};

/** Rows are taken as they are, so both ends must have the same tables. */
const assertSameVersion = ({ parts, madeBy }: Manifest, end: WritableEnd): void => {
  for (const { schema, done } of end.parts) {
    const theirs = parts.find((part) => part.schema === schema)?.done ?? [];
    const other = [...done, ...theirs].find((one) => !done.includes(one) || !theirs.includes(one));
    if (other !== undefined)
      throw new Error(
        `The file was made by Guestlist ${madeBy}, whose tables differ (migration ${other}): bring both installations to one version, then export the tenant again.`,
      );
  }
};

type Ids = ReadonlyMap<string, string>;

const listSame = async (db: Kysely<unknown>, { kind, id, name, of }: Need): Promise<readonly string[]> => {
  const found = {
    'data app': sql`select id from guestlist.data_apps where name = ${name}`,
    workspace: sql`select id from guestlist.workspaces where name = ${name}`,
    template: sql`select id from guestlist.dashboards where external_dashboard_id = ${name} and client_id is null`,
    metric: sql`select metric_id as id from guestlist.metrics join guestlist.workspaces on workspaces.id = workspace_id
      where metrics.name = ${name} and workspaces.name = ${of} and client_id is null`,
  }[kind];
  const { rows } = await sql<{ id: string }>`${found} order by 1`.execute(db);
  const ids = rows.map((row) => row.id);
  // Metrics of one name are told apart by their ids, if these are the same in both installations.
  return ids.includes(id) ? [id] : ids;
};

const nameOfNeed = ({ kind, name, of }: Need): string =>
  `${kind} ${JSON.stringify(name)}${of === null ? '' : ` of the workspace ${JSON.stringify(of)}`}`;

/** Finds what the rows name of the organization. Throws with a list of all that is missing. */
const findNeeds = async (db: Kysely<unknown>, needs: readonly Need[]): Promise<Ids> => {
  const ids = new Map<string, string>();
  const missing: string[] = [];
  for (const need of needs) {
    const [first, ...others] = await listSame(db, need);
    if (first !== undefined && others.length === 0) ids.set(need.id, first);
    else missing.push(`  ${nameOfNeed(need)}${first === undefined ? '' : ': several have this name'}`);
  }
  if (missing.length > 0)
    throw new Error(
      `The tenant's rows name what is not in this installation, and nothing was written:\n${missing.join('\n')}\nCreate it first: guestlist pull and push carry data apps' templates, workspaces and metrics from one installation to the other.`,
    );
  return ids;
};

/** What the tenant would have twice. */
const assertNothingThere = async (db: Kysely<unknown>, clientId: string): Promise<void> => {
  const there = (await countTenantRows(db, clientId)).filter(({ rows }) => rows > 0);
  if (there.length > 0)
    throw new Error(
      `The tenant ${JSON.stringify(clientId)} has rows here already (${there.map(({ table, rows }) => `${rows} of ${table}`).join(', ')}): erase it first (guestlist tenants erase), or import it under another id (--as).`,
    );
};

/** The names of copies contain the tenant's id: the gateway finds the copies by them. */
const renamedOf = (table: Table, row: TextRow, from: string, to: string): readonly (readonly [string, string])[] => {
  const mark: unknown = JSON.parse(row[columnAt(table, 'metadata')] ?? 'null');
  const own = typeof mark === 'object' && mark !== null && 'guestlist' in mark ? mark.guestlist : null;
  if (typeof own !== 'object' || own === null || !('template' in own) || typeof own.template !== 'string') return [];
  const name = row[columnAt(table, 'external_dashboard_id')] ?? '';
  return name === dashboardIdOf(own.template, from) ? [[name, dashboardIdOf(own.template, to)]] : [];
};

type Found = { readonly ids: readonly (readonly [Held, string])[]; readonly names: readonly string[] };

type Survey = Found & {
  readonly renamed: ReadonlyMap<string, string>;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
};

/** Reads the whole file, and notes which ids and names its rows have. */
const survey = async (opened: TenantFile, to: string): Promise<Survey> => {
  const { clientId } = opened.manifest.tenant;
  const ids: (readonly [Held, string])[] = [];
  const names: string[] = [];
  const renamed = new Map<string, string>();
  const tables: { name: string; rows: number }[] = [];
  const note = (held: Held, table: Table, row: TextRow): void => {
    const { [held]: id } = idColumns;
    if (id !== undefined) ids.push([held, row[columnAt(table, id)] ?? '']);
    if (held === 'dashboards' && to !== clientId)
      for (const [name, next] of renamedOf(table, row, clientId, to)) renamed.set(name, next);
    if (held === 'data_app_names') names.push(row[columnAt(table, 'name')] ?? '');
  };
  for (const table of opened.source.contents.tables) {
    const held = heldTableOf(table.name);
    if (held === undefined) throw new Error(`The file holds ${table.name}, which is no table of tenants.`);
    let count = 0;
    for await (const rows of opened.source.rows(table)) {
      for (const row of rows) note(held, table, row);
      count += rows.length;
    }
    tables.push({ name: table.name, rows: count });
  }
  await opened.end();
  return { ids, names, renamed, tables };
};

const listTaken = async (db: Kysely<unknown>, held: Held, ids: readonly string[]): Promise<readonly string[]> => {
  const column = idColumns[held] ?? 'id';
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)} as id from ${sql.table(`${schemaName}.${held}`)}
    where ${sql.ref(column)} = any(${[...ids]}::text[])`.execute(db);
  return rows.map(({ id }) => id);
};

/** New ids for rows whose id is taken. Metrics of guests and of hosts share their ids. */
const renewTaken = async (db: Kysely<unknown>, ids: Found['ids']): Promise<Ids> => {
  const renewed = new Map<string, string>();
  const sharing: Partial<Record<Held, readonly Held[]>> = {
    metrics: ['metrics', 'guest_metrics'],
    guest_metrics: ['metrics', 'guest_metrics'],
  };
  for (const held of new Set(ids.map(([one]) => one))) {
    const own = ids.flatMap(([one, id]) => (one === held ? [id] : []));
    for (const table of sharing[held] ?? [held])
      for (const id of await listTaken(db, table, own)) renewed.set(id, randomUUID());
  }
  return renewed;
};

const longestName = 255;

/** A name that a page uses cannot be replaced by another one. */
const assertNamesFree = async (
  db: Kysely<unknown>,
  { names, renamed }: Survey,
  dataApps: readonly string[],
): Promise<void> => {
  const wanted = names.map((name) => renamed.get(name) ?? name);
  const tooLong = wanted.filter((name) => name.length > longestName);
  if (tooLong.length > 0)
    throw new Error(
      `With this id, names of dashboards would be longer than ${longestName} characters: choose a shorter id.`,
    );
  const { rows } = await sql<{ name: string }>`
    select name from guestlist.data_app_names
    where data_app_id = any(${[...dataApps]}::text[]) and name = any(${wanted}::text[]) order by 1`.execute(db);
  if (rows.length > 0)
    throw new Error(
      `Dashboards or embeds of these names are in the data app already, and nothing was written:\n${rows.map(({ name }) => `  ${name}`).join('\n')}\nRename them where the tenant comes from, export it again, and name them in your pages.`,
    );
};

type Plan = {
  readonly file: TenantManifest;
  readonly clientId: string;
  /** Of the organization: by the id in the file. */
  readonly needs: Ids;
  /** Of the tenant's own rows: only those that change. */
  readonly renewed: Ids;
  readonly survey: Survey;
};

const tokens = /"((?:[^"\\]|\\.)*)"/g;

/** Replaces whole texts within a document, and leaves everything else as it is written. */
const mapDocument = (text: string, names: Ids): string =>
  names.size === 0
    ? text
    : text.replaceAll(tokens, (token, content: string) => {
        const next = names.get(content);
        return next === undefined ? token : JSON.stringify(next);
      });

const renameMark = (text: string, from: string, to: string): string => {
  const value: { guestlist?: { clientId?: unknown } } | null = JSON.parse(text);
  if (value?.guestlist?.clientId !== from) return text;
  return JSON.stringify({ ...value, guestlist: { ...value.guestlist, clientId: to } });
};

/** Makes the rows of the file into rows of this installation. */
const createMapping = ({ file, clientId, needs, renewed, survey: { ids, renamed } }: Plan) => {
  const from = file.tenant.clientId;
  const own = new Set(ids.map(([, id]) => id));
  const within: Ids = new Map([...needs, ...renewed, ...renamed]);
  const reference = (held: Held, name: string, id: string): string => {
    const next = needs.get(id) ?? renewed.get(id);
    if (next !== undefined) return next;
    // What was used is told by names that need not exist any more.
    if (own.has(id) || held === 'usage') return id;
    throw new Error(
      `A row of ${held} names something by ${name} that is not in the file: it was not made by an export.`,
    );
  };
  const value = (held: Held, { name, type }: Table['columns'][number], text: string): string => {
    if (name === 'client_id') return clientId;
    if (name === idColumns[held]) return renewed.get(text) ?? text;
    if (name === publicNames[held]) return renamed.get(text) ?? text;
    if (held === 'dashboards' && name === 'metadata' && from !== clientId)
      return mapDocument(renameMark(text, from, clientId), within);
    if (type === 'jsonb') return mapDocument(text, within);
    return referenceColumns.includes(name) ? reference(held, name, text) : text;
  };
  return (held: Held, table: Table, rows: readonly TextRow[]): readonly TextRow[] =>
    rows.map((row) =>
      table.columns.map((column, at) => {
        const text = row[at] ?? null;
        return text === null ? null : value(held, column, text);
      }),
    );
};

const assertOwnRows = (table: Table, rows: readonly TextRow[], clientId: string): void => {
  const at = columnAt(table, 'client_id');
  if (at >= 0 && rows.some((row) => row[at] !== clientId))
    throw new Error(`The file holds rows of ${table.name} that are not the tenant's: it was not made by an export.`);
};

const insertAll = async (
  db: Transaction<unknown>,
  opened: TenantFile,
  plan: Plan,
  { ring, say }: Pick<WritableEnd, 'ring'> & Pick<ImportRequest, 'say'>,
): Promise<void> => {
  const sealer = createSealer(...ring);
  const map = createMapping(plan);
  for (const table of opened.source.contents.tables) {
    const held = heldTableOf(table.name);
    if (held === undefined) continue;
    say(`writing ${table.name}`);
    for await (const rows of opened.source.rows(table)) {
      assertOwnRows(table, rows, plan.file.tenant.clientId);
      const mapped = mapSealed(table, map(held, table, rows), (text, context) => String(sealer.seal(text, context)));
      await insertRows(db, table, mapped);
    }
  }
  await opened.end();
};

/**
 * Keeps what users of the tenant ended, of the host's schedules that have the same name here. Returns how many schedules
 * have that name nowhere.
 */
const insertEnds = async (db: Transaction<unknown>, { file, clientId, needs }: Plan): Promise<number> => {
  const missing = new Set<string>();
  for (const { dataAppId, schedule, template, user } of file.tenant.ends) {
    const { rows } = await sql`
      insert into guestlist.schedule_stops (schedule_id, recipient, stopped_at)
      select schedules.id, ${tenantRecipient(clientId, user)}, now()
      from guestlist.schedules join guestlist.dashboards on dashboards.id = dashboard_id
      where schedules.client_id = '' and schedules.data_app_id = ${needs.get(dataAppId) ?? null}
        and schedules.name = ${schedule} and external_dashboard_id = ${template}
      on conflict (schedule_id, recipient) do update set stopped_at = schedule_stops.stopped_at
      returning schedule_id`.execute(db);
    if (rows.length === 0) missing.add(JSON.stringify([dataAppId, template, schedule]));
  }
  return missing.size;
};

/** An import is a sign-up. A tenant that is suspended at either end is suspended. */
const setState = async (
  db: Kysely<LedgerTables>,
  { clientId, file }: Plan,
  tenantRef: string,
  now: Date,
): Promise<ImportedTenant['state']> => {
  const row = await db
    .selectFrom('tenants')
    .select(['state', 'is_erasure_owed'])
    .where('tenant_ref', '=', tenantRef)
    .executeTakeFirst();
  if (row?.is_erasure_owed === true)
    throw new Error('The tenant is being erased here: run this again when its erasure has ended.');
  const state = row?.state === 'suspended' ? 'suspended' : file.tenant.state;
  await applyTenantEvent(db, tenantRef, { kind: 'signed-up', clientId, occurredAt: now }, now);
  if (state === 'suspended')
    await applyTenantEvent(db, tenantRef, { kind: 'suspended', clientId, occurredAt: now }, now);
  return state;
};

const planOf = async (db: Kysely<unknown>, opened: TenantFile, as: string | undefined): Promise<Plan> => {
  const { manifest } = opened;
  const { clientId: from, needs } = manifest.tenant;
  const clientId = as ?? from;
  const read = await survey(opened, clientId);
  const found = await findNeeds(db, needs);
  await assertNothingThere(db, clientId);
  const dataApps = needs.flatMap(({ kind, id }) => (kind === 'data app' ? (found.get(id) ?? []) : []));
  await assertNamesFree(db, read, dataApps);
  return { file: manifest, clientId, needs: found, renewed: await renewTaken(db, read.ids), survey: read };
};

/** Every write for a tenant locks its data app, and so does an erasure. */
const lockDataApps = (db: Transaction<unknown>, { needs }: Pick<Plan, 'needs'>): Promise<unknown> =>
  sql`select from guestlist.data_apps where id = any(${[...needs.values()]}::text[]) order by id for key share`.execute(
    db,
  );

const importInto = async (
  end: WritableEnd,
  request: ImportRequest,
  { clock }: Surroundings,
): Promise<Pick<ImportedTenant, 'state' | 'unknownReports'> & { readonly plan: Plan }> =>
  end.db.transaction().execute(async (db) => {
    await setFormats(db);
    const plan = await planOf(db, await readFile(request), request.as);
    const state = plan.file.tenant.state;
    if (request.isDry) return { plan, state, unknownReports: 0 };
    const ledger = db.withSchema(ledgerSchema) as unknown as Transaction<LedgerTables>;
    const refOf = await loadRefOf(ledger);
    await lockDataApps(db, plan);
    const now = clock.now();
    const set = await setState(ledger, plan, refOf(plan.clientId), now);
    await insertAll(db, await readFile(request), plan, { ring: end.ring, say: request.say });
    const unknownReports = await insertEnds(db, plan);
    const rows = plan.survey.tables.reduce((sum, one) => sum + one.rows, 0);
    const detail = { command: 'import-tenant', exportedAt: plan.file.at, rows };
    await appendWithin(ledger, { refOf }, [
      { at: now, event: { kind: 'admin', code: 'OK', clientId: plan.clientId, detail } },
    ]);
    return { plan, state: set, unknownReports };
  });

/** Imports the tenant, or only says what an import would write. Rejects with an Error that says what to do. */
export const importTenant = async (
  config: Configured,
  request: ImportRequest,
  surroundings: Surroundings,
): Promise<ImportedTenant> => {
  const { as, say, isDry } = request;
  if (as !== undefined) assertTenantId(as);
  say('reading the file');
  const { manifest } = await readFile(request);
  // The whole file is checked before the database is opened.
  await checkBackup(await readFile(request));
  const end = await openWritable(config, surroundings);
  try {
    assertSameVersion(manifest, end);
    const { plan, state, unknownReports } = await importInto(end, request, surroundings);
    const { at, madeBy } = manifest;
    const { tables, renamed } = plan.survey;
    const done = { to: end.name, isDry, at, madeBy, clientId: plan.clientId, state, tables, unknownReports };
    return { ...done, newIds: plan.renewed.size, renamed: [...renamed] };
  } finally {
    await end.close();
  }
};
