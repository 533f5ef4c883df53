/**
 * Writes what one tenant has into a sealed file, as of one moment: its dashboards, metrics, embeds, what its users made
 * and schedule, and its use. The file has the form of a backup. What the rows name of the organization is in it by name
 * alone; it holds no credential and no row of another tenant.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import { loadRefOf } from '../../gateway/ledger/ledger.js';
import type { LedgerTables } from '../../gateway/ledger/tables.js';
import { tenantId, tenantIdShape } from '../../gateway/policy/tenant-id.js';
import { tenantRecipient, userOfTenant } from '../../model/schedule/host-schedule.js';
import { type EndedReport, type Manifest, type Need, writeBackup } from '../../platform/databases/move/backup-file.js';
import type { Contents, Table } from '../../platform/databases/move/catalog.js';
import { type Digest, databaseRows, type RowSource, type TextRow } from '../../platform/databases/move/rows.js';
import { createSealer, type Sealer } from '../../platform/keys/sealing.js';
import { schemaName } from '../../service/store/tables.js';
import { sealedColumns } from '../reseal.js';
import { assertNew, assertWritten, type BackupRequest, withSnapshot, writeSealed } from './backup.js';
import type { End } from './ends.js';
import { assertDecided, heldTableOf, heldTables, rowsOf } from './tenant-rows.js';
import { type Configured, noteInAudit, openWritable, type Surroundings, type WritableEnd } from './writable.js';

export type ExportRequest = Pick<BackupRequest, 'ring' | 'version' | 'say'> & {
  readonly clientId: string;
  /** The path of a new file. */
  readonly to: string;
};

export type ExportedTenant = {
  readonly from: string;
  readonly at: string;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** What the rows name of the organization, which must be where they are imported. */
  readonly needs: readonly Need[];
  readonly bytes: number;
};

/** Throws if the text is no clientId. */
export const assertTenantId = (clientId: string): void => {
  if (!tenantId.safeParse(clientId).success) throw new Error(`A tenant's id is ${tenantIdShape}.`);
};

/** The index of a column in the rows of a table. */
export const columnAt = ({ columns }: Table, name: string): number =>
  columns.findIndex((column) => column.name === name);

/** Replaces the values of sealed columns. `keyOf` has the values of the key to which they are bound. */
export const mapSealed = (table: Table, rows: readonly TextRow[], map: (value: string, context: string) => string) => {
  const held = heldTableOf(table.name);
  const sealed = sealedColumns.filter((one) => one.schema === schemaName && one.table === held);
  if (sealed.length === 0) return rows;
  return rows.map((row) => {
    const next = [...row];
    for (const { column, key, contextOf } of sealed) {
      const at = columnAt(table, column);
      const value = row[at] ?? null;
      if (value !== null) next[at] = map(value, contextOf(...key.map((name) => row[columnAt(table, name)] ?? '')));
    }
    return next;
  });
};

/** The tables of the file, in the order in which their rows can be inserted. */
const contentsOf = ({ tables }: Contents): Contents => ({
  tables: heldTables.flatMap((held) => tables.find(({ name }) => heldTableOf(name) === held) ?? []),
  sequences: [],
});

/** The tenant's rows. What the encryption key of the installation seals is opened: the file itself is sealed. */
const tenantRows = (db: Transaction<unknown>, contents: Contents, clientId: string, sealer: Sealer): RowSource => {
  const source = databaseRows(db, contents, ({ name }) => {
    const held = heldTableOf(name);
    return held === undefined ? sql`false` : rowsOf(held, clientId);
  });
  async function* rows(table: Table): AsyncGenerator<readonly TextRow[]> {
    for await (const some of source.rows(table)) yield mapSealed(table, some, sealer.open);
  }
  return { ...source, rows };
};

const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** All ids that the rows name, also those within documents. */
const idsIn = async (source: RowSource): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for (const table of source.contents.tables) {
    const references = table.columns.flatMap(({ name }, at) => (/_id$/.test(name) ? [at] : []));
    for await (const rows of source.rows(table))
      for (const row of rows) {
        for (const at of references) ids.add(row[at] ?? '');
        for (const [id] of row.join('\n').matchAll(idPattern)) ids.add(id);
      }
  }
  return ids;
};

/** What of the organization these ids name. */
const needsOf = async (db: Transaction<unknown>, ids: ReadonlySet<string>): Promise<readonly Need[]> => {
  const some = sql`any(${[...ids]}::text[])`;
  const { rows } = await sql<Need>`
    select 'data app' as kind, id, name, null as of from guestlist.data_apps where id = ${some}
    union all select 'workspace', id, name, null from guestlist.workspaces where id = ${some}
    union all select 'template', id, external_dashboard_id, null from guestlist.dashboards
      where id = ${some} and client_id is null
    union all select 'metric', metric_id, metrics.name, workspaces.name
      from guestlist.metrics join guestlist.workspaces on workspaces.id = workspace_id
      where metric_id = ${some} and client_id is null
    order by 1, 3, 2`.execute(db);
  return rows;
};

/** A schedule of the host is no row of the tenant, so what its users ended is told by the schedule's name. */
const endsOf = async (db: Transaction<unknown>, clientId: string): Promise<readonly EndedReport[]> => {
  const ofTenant = tenantRecipient(clientId, '').slice(0, -'""]'.length);
  const { rows } = await sql<Omit<EndedReport, 'user'> & { recipient: string }>`
    select schedules.data_app_id as "dataAppId", schedules.name as schedule, external_dashboard_id as template, recipient
    from guestlist.schedule_stops join guestlist.schedules on schedules.id = schedule_id
      join guestlist.dashboards on dashboards.id = schedules.dashboard_id
    where schedules.client_id = '' and starts_with(recipient, ${ofTenant}) order by 2, 4`.execute(db);
  return rows.map(({ recipient, ...of }) => ({ ...of, user: userOfTenant(recipient) }));
};

const stateOf = async (ledger: Kysely<LedgerTables>, tenantRef: string): Promise<'active' | 'suspended'> => {
  const row = await ledger
    .selectFrom('tenants')
    .select(['state', 'is_erasure_owed'])
    .where('tenant_ref', '=', tenantRef)
    .executeTakeFirst();
  if (row?.state === 'deleted' || row?.is_erasure_owed === true)
    throw new Error('The tenant was deleted here, so there is nothing to export.');
  return row?.state === 'suspended' ? 'suspended' : 'active';
};

type Written = Omit<ExportedTenant, 'from'>;

const write = async (
  source: RowSource,
  { parts, tenant, at }: Pick<Manifest, 'tenant' | 'at'> & Pick<WritableEnd, 'parts'>,
  { ring, to, version, say }: ExportRequest,
): Promise<Written> => {
  const tables: { name: string; rows: number }[] = [];
  const table = (name: string, { rows }: Digest): void => void tables.push({ name, rows });
  const manifest: Manifest = {
    ...{ format: 1, madeBy: version, at, service: true, tenant },
    parts: parts.map(({ schema, done }) => ({ schema, done: [...done] })),
    contents: source.contents as Manifest['contents'],
  };
  const bytes = await writeSealed(writeBackup(manifest, [], source, { say, table }), { ring, to });
  return { at, tables, needs: tenant?.needs ?? [], bytes };
};

/** How many rows of the tenant each table has. */
export const countTenantRows = async (
  db: Kysely<unknown>,
  clientId: string,
): Promise<readonly { readonly table: string; readonly rows: number }[]> => {
  const counts: { table: string; rows: number }[] = [];
  for (const table of heldTables) {
    const { rows } = await sql<{ count: string }>`
      select count(*)::text as count from ${sql.table(`${schemaName}.${table}`)} t where ${rowsOf(table, clientId)}`.execute(
      db,
    );
    counts.push({ table, rows: Number(rows[0]?.count ?? 0) });
  }
  return counts;
};

const assertThere = async ({ db }: End, clientId: string): Promise<void> => {
  const counts = await countTenantRows(db, clientId);
  if (counts.every(({ rows }) => rows === 0))
    throw new Error(
      `There is nothing of a tenant ${JSON.stringify(clientId)} here. guestlist tenants list has the ids; an id is compared letter by letter.`,
    );
};

const exportFrom = (
  end: WritableEnd,
  state: 'active' | 'suspended',
  request: ExportRequest,
  { clock }: Surroundings,
): Promise<Written> =>
  withSnapshot(end, end.parts, async (transaction, all) => {
    const { clientId, say } = request;
    assertDecided(all.tables.map(({ name }) => name));
    const source = tenantRows(transaction, contentsOf(all), clientId, createSealer(...end.ring));
    say('reading what the tenant has');
    const needs = await needsOf(transaction, await idsIn(source));
    const tenant = { clientId, state, needs: [...needs], ends: [...(await endsOf(transaction, clientId))] };
    return write(source, { parts: end.parts, tenant, at: clock.now().toISOString() }, request);
  });

/** Writes the file, and reads it again. Rejects with an Error that says what to do, and leaves no file then. */
export const exportTenant = async (
  config: Configured,
  request: ExportRequest,
  surroundings: Surroundings,
): Promise<ExportedTenant> => {
  const { clientId, to, ring, say } = request;
  assertTenantId(clientId);
  assertNew(to);
  say('opening the database');
  const end = await openWritable(config, surroundings);
  try {
    const refOf = await loadRefOf(end.ledger);
    const state = await stateOf(end.ledger, refOf(clientId));
    await assertThere(end, clientId);
    // Before anything leaves.
    const event = { kind: 'admin', code: 'OK', clientId, detail: { command: 'export-tenant' } } as const;
    await noteInAudit(end, event, surroundings.clock.now());
    const written = await exportFrom(end, state, request, surroundings);
    await assertWritten(to, ring, say);
    return { from: end.name, ...written };
  } finally {
    await end.close();
  }
};
