/** Reads and writes tenants' copies at the service. A write names the digest that was read, and fails if the copy changed since. */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { getDashboardContent, replaceDashboardContent } from '../../contract/dashboard-content.js';
import type { DashboardContent } from '../../domain/dashboard/dashboard.js';
import { Refusal } from '../../domain/refusal.js';
import type { TenantDashboard } from './model.js';

/** A copy as it is now; `digest` is the service's, and stands for exactly this content. */
export type Copy = { readonly content: DashboardContent; readonly digest: string };

/** `changed`: the copy is not any more what `expectedDigest` stands for, and was left alone. */
export type Written =
  | { readonly outcome: 'written'; readonly digest: string }
  | { readonly outcome: 'changed' | 'missing' };

export type Copies = {
  /** Undefined where the service has none. Throws a Refusal where it cannot be read, or is not this tenant's copy of this template. */
  readonly find: (dashboard: TenantDashboard) => Promise<Copy | undefined>;
  /** Throws a Refusal where the service refuses the content, or cannot be asked. */
  readonly replace: (dashboard: TenantDashboard, content: DashboardContent, expectedDigest: string) => Promise<Written>;
};

/** What provisioning writes into a copy's metadata. */
const isMarkOf = (metadata: unknown, { template, clientId }: TenantDashboard): boolean => {
  if (typeof metadata !== 'object' || metadata === null || !('guestlist' in metadata)) return false;
  const mark = metadata.guestlist;
  return (
    typeof mark === 'object' &&
    mark !== null &&
    'template' in mark &&
    'clientId' in mark &&
    mark.template === template &&
    mark.clientId === clientId
  );
};

/** A refusal of the service's that is about this dashboard alone, in its words; INVALID_DASHBOARD_ID means that there is none. */
const refused = (error: unknown): Refusal => {
  if (!(error instanceof UpstreamRefusal)) throw error;
  const code = error.code === 'INVALID_DASHBOARD_DATA' ? 'INVALID_DASHBOARD_DATA' : 'UPSTREAM_UNAVAILABLE';
  return new Refusal(code, `The service refused: ${error.code}: ${error.message}`, { cause: error });
};

const isMissing = (error: unknown): boolean =>
  error instanceof UpstreamRefusal && error.code === 'INVALID_DASHBOARD_ID';

export const createCopies = (upstream: Call, workspaceName: string): Copies => ({
  find: async (dashboard) => {
    const { dashboardId } = dashboard;
    try {
      const { data, digest } = await upstream(getDashboardContent, { dashboardId, workspaceName });
      const { version: _, ...content } = data;
      if (isMarkOf(content.metadata, dashboard)) return { content, digest };
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (error instanceof Refusal) throw error;
      throw refused(error);
    }
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Dashboard ${JSON.stringify(dashboardId)} does not bear the mark of this tenant's copy of template ${JSON.stringify(dashboard.template)}: an operator must look at it.`,
      { reason: 'dashboard-of-a-stranger' },
    );
  },
  replace: async ({ dashboardId }, content, expectedDigest) => {
    try {
      const input = { dashboardId, workspaceName, content, expectedDigest };
      const { digest } = await upstream(replaceDashboardContent, input);
      return { outcome: 'written', digest };
    } catch (error) {
      if (isMissing(error)) return { outcome: 'missing' };
      if (error instanceof UpstreamRefusal && error.code === 'DASHBOARD_CHANGED') return { outcome: 'changed' };
      if (error instanceof Refusal) throw error;
      throw refused(error);
    }
  },
});
