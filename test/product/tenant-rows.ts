/** One tenant with a row in every table that its file holds, and texts that tell whose they are. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { loadRefOf } from '../../src/gateway/ledger/ledger.js';
import { type LedgerTables, schemaName } from '../../src/gateway/ledger/tables.js';
import type { Database } from '../../src/platform/databases/database.js';
import type { Sealer } from '../../src/platform/keys/sealing.js';
import { recipientsContext, stateContext } from '../../src/service/store/schedules.js';
import { on, type Where } from './moving.js';

/** What the rows of the tenant name, in one installation. */
export type Organization = {
  readonly dataApp: string;
  readonly workspace: string;
  readonly template: string;
  readonly metric: string;
};

/** Adds what a tenant's rows name, under the same names and other ids. */
export const addOrganization = async (database: Database): Promise<Organization> => {
  const [dataApp, workspace, template, metric] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const db = database.connect<unknown>();
  await sql`insert into guestlist.data_apps (id, name, created_at, updated_at)
    values (${dataApp}, 'portal', now(), now())`.execute(db);
  await sql`insert into guestlist.workspaces (id, name, connection_type) values (${workspace}, 'Flights', 'DATABASE')`.execute(
    db,
  );
  await sql`insert into guestlist.dashboards (id, external_dashboard_id, workspace_id, name, layout, grid_margin, filters,
      is_allow_private_metrics_by_default)
    values (${template}, 'delays', ${workspace}, 'TEXT-OF-TEMPLATE', '[]', '[]', '[]', false)`.execute(db);
  await sql`insert into guestlist.metrics (metric_id, workspace_id, name, definition, lineage)
    values (${metric}, ${workspace}, 'on time', '{"text": "TEXT-OF-ORGANIZATION"}', '[]')`.execute(db);
  return { dataApp, workspace, template, metric };
};

export type PlantedTenant = {
  readonly board: string;
  readonly metric: string;
  readonly guestMetric: string;
  readonly schedule: string;
};

/** Adds a tenant whose every text holds `mark`. */
export const plantTenant = async (
  database: Database,
  { dataApp, workspace, template, metric: original }: Organization,
  { clientId, mark, sealer }: { readonly clientId: string; readonly mark: string; readonly sealer: Sealer },
): Promise<PlantedTenant> => {
  const db = database.connect<unknown>();
  const [board, metric, guestMetric, schedule] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const refOf = await loadRefOf(database.connect<LedgerTables>().withSchema(schemaName));
  const name = `delays--${clientId}`;
  const owner = sql`${dataApp}, ${clientId}`;
  const card = { metricId: metric, x: 0, y: 0, w: 6, h: 4 };
  const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;
  for (const statement of [
    sql`insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
      values (${refOf(clientId)}, ${clientId}, 'active', now(), now())`,
    sql`insert into guestlist.dashboards (id, external_dashboard_id, workspace_id, name, data_app_id, client_id, template_id,
        layout, grid_margin, filters, metadata, is_allow_private_metrics_by_default)
      values (${board}, ${name}, ${workspace}, ${mark}, ${owner}, ${template}, ${json([card])}, '[]', '[{"x": 1.10}]',
        ${json({ guestlist: { template: 'delays', clientId } })}, true)`,
    sql`insert into guestlist.metrics (metric_id, workspace_id, name, definition, lineage, data_app_id, client_id)
      values (${metric}, ${workspace}, ${mark}, ${json({ mark, limit: 12 })}, ${json([original])}, ${owner})`,
    sql`insert into guestlist.dashboard_metrics (dashboard_id, metric_id, placement, position, placed_at)
      values (${board}, ${metric}, 'canvas', 0, now())`,
    sql`insert into guestlist.data_app_names (data_app_id, name, dashboard_id) values (${dataApp}, ${name}, ${board})`,
    sql`insert into guestlist.embeds (data_app_id, embed_id, embed_type, dashboard_id, name, created_at)
      values (${dataApp}, ${name}, 'dashboard', ${board}, ${mark}, now())`,
    sql`insert into guestlist.guest_metrics (metric_id, dashboard_id, data_app_id, client_id, name, definition, is_published,
        is_archived, created_at)
      values (${guestMetric}, ${board}, ${owner}, ${mark}, ${json({ mark })}, true, false, now())`,
    sql`insert into guestlist.guest_layouts (dashboard_id, data_app_id, client_id, user_identifier, layout)
      values (${board}, ${owner}, ${`user ${mark}`}, ${json({ cards: [card], known: [metric, guestMetric] })})`,
    sql`insert into guestlist.guest_views (id, dashboard_id, data_app_id, client_id, user_identifier, name, choices, created_at)
      values (${randomUUID()}, ${board}, ${owner}, 'ann', ${mark}, ${json({ metricFilter: { [metric]: { State: mark } } })}, now())`,
    sql`insert into guestlist.guest_boards (id, dashboard_id, data_app_id, client_id, user_identifier, name, content, is_shared,
        version, created_at)
      values (${randomUUID()}, ${board}, ${owner}, 'ann', ${mark}, ${json({ layout: [card], tiles: [] })}, true, 1, now())`,
    sql`insert into guestlist.schedules (id, dashboard_id, opened_id, data_app_id, client_id, user_identifier, name, format,
        recurrence, catch_up, is_paused, created_at, alert, alert_state, recipients)
      values (${schedule}, ${board}, ${name}, ${owner}, 'ann', ${mark}, 'alert', '{}', 'skip', false, now(),
        ${json({ metricId: metric })}, ${sealer.seal(`state ${mark}`, stateContext(schedule, null))},
        ${sealer.seal(`recipients ${mark}`, recipientsContext(schedule))})`,
    sql`insert into guestlist.schedule_stops (schedule_id, recipient, stopped_at) values (${schedule}, ${mark}, now())`,
    sql`insert into guestlist.alert_states (schedule_id, recipient, state)
      values (${schedule}, 'bob', ${sealer.seal(`bob ${mark}`, stateContext(schedule, 'bob'))})`,
    sql`insert into guestlist.usage (at, data_app_id, client_id, person, dashboard_id, metric_id, logins, mints,
        source_queries, kept_answers, failed_answers, rows, ms, exports, mails, model_tokens)
      values ('2026-03-01', ${owner}, ${mark}, ${board}, ${metric}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)`,
    sql`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, grants, created_at)
      values (${`TOKEN ${mark}`}, encode(sha256(convert_to(${mark}, 'UTF8')), 'hex'), ${owner}, 'ann', '{}', now())`,
    sql`insert into guestlist.report_addresses (id, data_app_id, client_id, digest, created_at)
      values (${`ADDRESS ${mark}`}, ${owner}, 'digest', now())`,
  ])
    await statement.execute(db);
  return { board, metric, guestMetric, schedule };
};

/** What the tenant has, in one row. */
export const rowsAt = (place: Where, clientId: string) =>
  on(place, async (database) => {
    const { rows } = await sql<Readonly<Record<string, unknown>>>`
      select d.id as board, d.external_dashboard_id as name, d.data_app_id as "dataApp", d.workspace_id as workspace,
        d.template_id as template, d.metadata, d.layout, d.filters::text as filters, m.metric_id as metric, m.lineage,
        m.definition, g.metric_id as "guestMetric", l.layout as own, v.choices, b.content, s.id as schedule, s.opened_id as opened,
        s.alert, s.alert_state as state, s.recipients, a.state as bob, e.embed_id as embed, u.source_queries::int as queries,
        t.state as "tenantState"
      from guestlist.dashboards d join guestlist.metrics m using (client_id) join guestlist.guest_metrics g using (client_id)
        join guestlist.guest_layouts l using (client_id) join guestlist.guest_views v using (client_id)
        join guestlist.guest_boards b using (client_id) join guestlist.schedules s using (client_id)
        join guestlist.alert_states a on a.schedule_id = s.id join guestlist.embeds e on e.dashboard_id = d.id
        join guestlist.usage u using (client_id) join guestlist_gateway.tenants t using (client_id)
      where d.client_id = ${clientId}`.execute(database.connect());
    return rows;
  });
