/** The rows of the ledger of dashboards, as they are read. */
import { Refusal } from '../../domain/refusal.js';
import type { Ledger, TenantState } from '../ledger/ledger.js';
import { unavailable } from '../upstream/upstream.js';

/** Where a copy is and which key sees it: what was verified elsewhere or by another key is verified anew. */
export type Place = { readonly upstream: string; readonly keyRef: string };

export type DashboardRow = {
  readonly template: string;
  readonly dashboardId: string;
  readonly upstream: string;
  readonly keyRef: string;
  readonly templateVersion: string | null;
  readonly startedAt: Date;
  readonly createdAt: Date | null;
  readonly verifiedAt: Date | null;
  readonly doubtedAt: Date | null;
  readonly failedAt: Date | null;
  readonly failedStep: string | null;
  readonly failure: string | null;
  readonly failures: number;
};

export type TenantDashboards = { readonly state: TenantState | null; readonly dashboards: readonly DashboardRow[] };

export const isVerifiedAt = (row: DashboardRow | undefined, { upstream, keyRef }: Place): boolean =>
  row !== undefined &&
  row.upstream === upstream &&
  row.keyRef === keyRef &&
  row.verifiedAt !== null &&
  row.doubtedAt === null;

/** Of `dashboards as d`. */
export const dashboardColumns = [
  'd.template',
  'd.dashboard_id as dashboardId',
  'd.upstream',
  'd.key_ref as keyRef',
  'd.template_version as templateVersion',
  'd.started_at as startedAt',
  'd.created_at as createdAt',
  'd.verified_at as verifiedAt',
  'd.doubted_at as doubtedAt',
  'd.failed_at as failedAt',
  'd.failed_step as failedStep',
  'd.failure',
  'd.failures',
] as const;

/** Asks the ledger. Throws UPSTREAM_UNAVAILABLE where it cannot be asked. */
export const asked = async <T>(statement: Promise<T>): Promise<T> => {
  try {
    return await statement;
  } catch (cause) {
    throw cause instanceof Refusal ? cause : unavailable('ledger-unavailable', cause);
  }
};

/** All that the ledger has of a tenant; `state` is null for one that it does not know. */
export const readTenant = async (db: Ledger['db'], tenantRef: string): Promise<TenantDashboards> => {
  const rows = await asked(
    db
      .selectFrom('tenants as t')
      .leftJoin('dashboards as d', 'd.tenant_ref', 't.tenant_ref')
      .select(['t.state', ...dashboardColumns])
      .where('t.tenant_ref', '=', tenantRef)
      .execute(),
  );
  // A tenant without dashboards is one row without any.
  const found = rows.flatMap(({ state: _, ...row }) => (row.template === null ? [] : [row as DashboardRow]));
  return { state: rows[0]?.state ?? null, dashboards: found };
};
