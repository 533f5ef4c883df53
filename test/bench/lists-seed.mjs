// The metadata of the bench of long lists: tenants by the thousand, copied by SQL from one that the product made, and an audit chain.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

const clients = (count) =>
  `(select 'T' || lpad(n::text, 7, '0') as c from generate_series(1, ${count}) as n) as clients`;

/** Copies of the dashboard `delays--LAX` with its metrics, one for each client, and what the gateway's ledger knows of them. */
export const copyTenants = async (db, count) => {
  const mark = `regexp_replace(layout::text, '"metricId": "([^"]+)"', '"metricId": "\\1~' || c || '"', 'g')::jsonb`;
  const board = `(select id from guestlist.dashboards where external_dashboard_id = 'delays--LAX')`;
  await db.exec(`
    begin;
    insert into guestlist.dashboards select 'board~' || c, 'delays--' || c, workspace_id, name, data_app_id, c, template_id, ${mark}, grid_margin,
      filters, replace(metadata::text, '"LAX"', '"' || c || '"')::jsonb, is_allow_private_metrics_by_default
      from guestlist.dashboards, ${clients(count)} where external_dashboard_id = 'delays--LAX';
    insert into guestlist.metrics (metric_id, workspace_id, name, definition, lineage, data_app_id, client_id, is_archived, is_changed_by_guest)
      select metrics.metric_id || '~' || c, workspace_id, name, definition, lineage, data_app_id, c, is_archived, is_changed_by_guest
      from guestlist.metrics join guestlist.dashboard_metrics on dashboard_metrics.metric_id = metrics.metric_id, ${clients(count)}
      where dashboard_id = ${board};
    insert into guestlist.dashboard_metrics (dashboard_id, metric_id, placement, position, placed_at)
      select 'board~' || c, metric_id || '~' || c, placement, position, placed_at
      from guestlist.dashboard_metrics, ${clients(count)} where dashboard_id = ${board};
    insert into guestlist.data_app_names select data_app_id, 'delays--' || c, 'board~' || c
      from guestlist.data_app_names, ${clients(count)} where name = 'delays--LAX';
    insert into guestlist.embeds (data_app_id, embed_id, embed_type, dashboard_id, metric_id, name, description, access_settings, created_at)
      select data_app_id, 'delays--' || c, embed_type, 'board~' || c, null, name, description, access_settings, now()
      from guestlist.embeds, ${clients(count)} where embed_id = 'delays--LAX';
    insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, datamart_id, grants, created_at, expires_at, epoch)
      select 'token~' || c, encode(sha256(convert_to(c, 'UTF8')), 'hex'), data_app_id, c, user_identifier, datamart_id, grants, now(), null, epoch
      from (select * from guestlist.guest_tokens limit 1) as one, ${clients(count)};
    insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
      select md5(c) || md5('2' || c), c, 'active', now(), now() from ${clients(count)};
    insert into guestlist_gateway.dashboards (tenant_ref, template, dashboard_id, upstream, key_ref, template_version, attempt, started_at, created_at, verified_at)
      select md5(c) || md5('2' || c), template, 'delays--' || c, upstream, key_ref, template_version, attempt, started_at, created_at, verified_at
      from guestlist_gateway.dashboards, ${clients(count)} where dashboard_id = 'delays--LAX';
    commit;
    analyze;`);
};

/** Data that is erased with the tenant LAX. */
const fillTenant = (db, tokens) =>
  db.exec(`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, datamart_id, grants, created_at, expires_at, epoch)
    select 'own~' || n, encode(sha256(convert_to('own' || n, 'UTF8')), 'hex'), data_app_id, client_id, user_identifier, datamart_id, grants, now(), null, epoch
    from (select * from guestlist.guest_tokens where client_id = 'LAX' limit 1) as one, generate_series(1, ${tokens}) as n`);

/** As audit-chain.ts writes it. */
const extendAudit = async (db, entries) => {
  const { rows } = await db.query('select seq, hash from guestlist_gateway.audit_head');
  let { seq, hash: prev } = { seq: Number(rows[0].seq), hash: rows[0].hash };
  for (let start = 0; start < entries; start += 5000) {
    const columns = { seq: [], content: [], hash: [] };
    for (let index = start; index < Math.min(start + 5000, entries); index += 1) {
      seq += 1;
      const detail = { embeds: 2, expiryMs: 3_600_000 };
      const entry = {
        at: '2026-11-22T12:00:00.000Z',
        kind: 'mint',
        code: 'OK',
        requestId: `request-${seq}`,
        tenant: 't_bench',
        user: 'u_bench',
      };
      const content = JSON.stringify({
        seq,
        ...entry,
        upstreamId: 'a'.repeat(64),
        durationMs: 12,
        detail,
        names: 'n'.repeat(120),
        prev,
      });
      prev = hash('sha256', content, 'hex');
      columns.seq.push(seq);
      columns.content.push(content);
      columns.hash.push(prev);
    }
    await db.query(
      `insert into guestlist_gateway.audit_events (seq, at, kind, request_id, tenant, content, hash)
        select seq, now(), 'mint', 'request-' || seq, 't_bench', content, hash from unnest($1::bigint[], $2::text[], $3::text[]) as rows (seq, content, hash)`,
      [columns.seq, columns.content, columns.hash],
    );
  }
  await db.query('update guestlist_gateway.audit_head set seq = $1, hash = $2', [seq, prev]);
};

/** A template that changed since its copies were created, and a metric with more than 10,000 rows. */
const changeContent = (db) =>
  db.exec(`update guestlist.dashboards set layout = jsonb_set(layout, '{0,h}', '7') where external_dashboard_id = 'delays';
    update guestlist.metrics set definition = definition #- '{dimensions,0,grain}' where client_id = 'LAX' and name = 'Flights a day'`);

export const seedMetadata = async (dataDir, { tenants, tokens, entries }) => {
  const db = await PGlite.create(join(dataDir, 'metadata'));
  await copyTenants(db, tenants);
  await fillTenant(db, tokens);
  await changeContent(db);
  await extendAudit(db, entries);
  await db.close();
};
