/** Metadata of many tenants for tests that move it, and its content in a form that two databases can be compared by. */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { entryOf, genesisHash } from '../../src/gateway/audit/chain.js';
import type { Database } from '../../src/platform/databases/database.js';

const run = async (db: Kysely<unknown>, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

/** Texts that a careless copy would change. */
const awkward = `E'a "quoted", \\\\ text, {braces} (and) \\n NULL \\t é 漢 🙂'`;

const common = [
  `insert into guestlist.data_apps (id, name, created_at, updated_at) values ('bulk', 'bulk', now(), now())`,
  `insert into guestlist.workspaces (id, name, connection_type) values ('bulk', ${awkward}, 'DATABASE')`,
  // A large row, and a template that copies refer to.
  `insert into guestlist.dashboards (id, external_dashboard_id, workspace_id, name, layout, grid_margin, filters,
     is_allow_private_metrics_by_default)
   values ('zzz-template', 'template', 'bulk', ${awkward}, '[]', '{}', jsonb_build_array(repeat('large row ', 10000)), true)`,
  `select nextval('guestlist_gateway.fences') from generate_series(1, 41)`,
];

const rowsOf = (from: number, to: number, tokens: number): readonly string[] => [
  `insert into guestlist_gateway.tenants (tenant_ref, client_id, state, occurred_at, created_at, updated_at)
   select 'ref-' || i, 'bulk-' || i, 'active', timestamptz '2026-01-01 00:00:00.123456+00' + i * interval '1 second', now(), now()
   from generate_series(${from}, ${to}) i`,
  `insert into guestlist_gateway.tenant_keys (tenant_ref, pseudonym, key)
   select 'ref-' || i, 'pseudonym-' || i, md5(i::text) from generate_series(${from}, ${to}) i`,
  `insert into guestlist.dashboards (id, external_dashboard_id, workspace_id, name, data_app_id, client_id, template_id,
     layout, grid_margin, filters, is_allow_private_metrics_by_default)
   select 'board-' || i, 'board-' || i, 'bulk', ${awkward} || i, 'bulk', 'bulk-' || i, 'zzz-template', '[]', '{"x": 1.10}',
     case when i % 500 = 0 then jsonb_build_array(repeat('x', 100000)) else '[null, "é", 1e3]' end, i % 2 = 0
   from generate_series(${from}, ${to}) i`,
  `insert into guestlist_gateway.dashboards (tenant_ref, template, dashboard_id, upstream, key_ref, attempt, started_at)
   select 'ref-' || i, 'template', 'board-' || i, 'in-process', 'key', 'attempt', now() from generate_series(${from}, ${to}) i`,
  `insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, grants, created_at, expires_at)
   select 'token-' || i || '-' || k, encode(sha256(convert_to(i || '/' || k, 'UTF8')), 'hex'), 'bulk', 'bulk-' || i,
     'user-' || k, '{"allowedEmbeds": null}', now(), case when k = 1 then null else now() + interval '1 day' end
   from generate_series(${from}, ${to}) i, generate_series(1, ${tokens}) k`,
];

const appendAudit = async (db: Kysely<unknown>, entries: number): Promise<void> => {
  const { rows } = await sql<{ seq: string; hash: string }>`
    select seq::text as seq, hash from guestlist_gateway.audit_head`.execute(db);
  let seq = Number(rows[0]?.seq ?? 0);
  let prev = rows[0]?.hash ?? genesisHash;
  const last = seq + entries;
  while (seq < last) {
    const page: { seq: number; content: string; hash: string }[] = [];
    while (seq < last && page.length < 1_000) {
      seq += 1;
      const at = '2026-01-01T00:00:00.000Z';
      const entry = entryOf({ seq, at, kind: 'admin', code: 'BULK', prev });
      prev = entry.hash;
      page.push({ seq, ...entry });
    }
    await sql`insert into guestlist_gateway.audit_events (seq, at, kind, content, hash)
      select seq, now(), 'admin', content, hash
      from jsonb_to_recordset(${JSON.stringify(page)}::jsonb) as x (seq bigint, content text, hash text)`.execute(db);
  }
  await sql`update guestlist_gateway.audit_head set seq = ${seq}, hash = ${prev}`.execute(db);
};

/** Adds tenants, each with a dashboard, tokens and an entry of the audit. The tables must exist. */
export const addTenants = async (database: Database, tenants: number, tokens = 4): Promise<void> => {
  const db = database.connect<unknown>();
  await run(db, common);
  for (let from = 1; from <= tenants; from += 1_000) await run(db, rowsOf(from, Math.min(tenants, from + 999), tokens));
  await appendAudit(db, tenants);
  await sql`insert into guestlist_gateway.installation (tenant_key) values (${randomBytes(32).toString('base64')})
    on conflict do nothing`.execute(db);
};

export type Content = Readonly<Record<string, string>>;

/** Without the audit, in which a restore has an entry. */
export const unaudited = (content: Content): Content =>
  Object.fromEntries(
    Object.entries(content).filter(([name]) => !/\.(?:audit_events|audit_head|tenant_keys)$/.test(name)),
  );

/** The number and a digest of the rows of each table of the product, and the state of each sequence. */
export const contentOf = (database: Database): Promise<Content> =>
  database
    .connect<unknown>()
    .transaction()
    .execute(async (db) => {
      await sql`set local timezone = 'UTC'`.execute(db);
      const { rows: relations } = await sql<{ name: string; kind: string }>`
        select format('%I.%I', n.nspname, c.relname) as name, c.relkind::text as kind
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('guestlist', 'guestlist_gateway') and c.relkind in ('r', 'S') and c.relpersistence <> 'u'
          order by 1`.execute(db);
      const found: Record<string, string> = {};
      for (const { name, kind } of relations) {
        const state = sql`select last_value || ' ' || is_called as text from ${sql.raw(name)}`;
        const digest = sql`select count(*) || ' ' || md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), ''))
          as text from ${sql.raw(name)} t`;
        const { rows } = await sql<{ text: string }>`${kind === 'S' ? state : digest}`.execute(db);
        found[name] = rows[0]?.text ?? '';
      }
      return found;
    });
