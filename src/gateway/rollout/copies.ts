/**
 * Reads and writes tenants' copies at the service. A write sends the digest that was read, and fails if the copy has
 * changed since.
 */
import type { z } from 'zod';
import type { DashboardContent, TriedMetric } from '../../model/dashboard/dashboard.js';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import {
  getDashboardContent,
  replaceDashboardContent,
  tryDashboardContent,
} from '../../service/dashboards/contract/content.js';
import type { SourceNames } from '../policy/source-names.js';
import { withoutSettings } from '../provision/template-version.js';
import type { TenantDashboard } from './model.js';

type Replacement = z.input<typeof replaceDashboardContent.input>;
/** Lists of the domain are read-only; those of the wire are not. */
type CallInput<Name extends keyof Replacement> = NonNullable<Replacement[Name]>;

/**
 * The current content of a copy, with its settings if they were wanted. `digest` comes from the service and identifies
 * exactly this content.
 */
export type Copy = { readonly content: DashboardContent; readonly digest: string };

/** `changed`: the copy no longer matches `expectedDigest` and was not written. */
export type Written =
  | { readonly outcome: 'written'; readonly digest: string }
  | { readonly outcome: 'changed' | 'missing' };

export type Copies = {
  /**
   * Settings are wanted only if a write will name them, since the digest is then of both. Returns undefined if the
   * service has no such copy. Throws a Refusal if the copy cannot be read, or is not this
   * tenant's copy of this template.
   */
  readonly find: (dashboard: TenantDashboard, isWithSettings: boolean) => Promise<Copy | undefined>;
  /**
   * Runs the content's metrics for the tenant that owns the copy, on this source, and writes nothing. Throws a Refusal
   * if the service refuses the content or the source, or cannot be reached.
   */
  readonly tryOut: (
    dashboard: Pick<TenantDashboard, 'dashboardId'>,
    content: DashboardContent,
    source: SourceNames,
    isMeasured: boolean,
  ) => Promise<readonly TriedMetric[]>;
  /** Throws a Refusal if the service refuses the content or cannot be reached. */
  readonly replace: (dashboard: TenantDashboard, content: DashboardContent, expectedDigest: string) => Promise<Written>;
};

/** Whether a copy's metadata has the mark that provisioning writes for this template and client. */
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

/** Converts the service's refusal of this one dashboard to a Refusal with the same message. Rethrows any other error. */
const refused = (error: unknown): Refusal => {
  if (!(error instanceof UpstreamRefusal)) throw error;
  const code = error.code === 'INVALID_DASHBOARD_DATA' ? 'INVALID_DASHBOARD_DATA' : 'UPSTREAM_UNAVAILABLE';
  return new Refusal(code, `The service refused: ${error.code}: ${error.message}`, { cause: error });
};

const isMissing = (error: unknown): boolean =>
  error instanceof UpstreamRefusal && error.code === 'INVALID_DASHBOARD_ID';

export const createCopies = (upstream: Call, workspaceName: string): Copies => ({
  find: async (dashboard, isWithSettings) => {
    const { dashboardId } = dashboard;
    try {
      const asked = { dashboardId, workspaceName, ...(isWithSettings ? { with: 'settings' as const } : {}) };
      const { data, digest, settings } = await upstream(getDashboardContent, asked);
      const { version: _, ...board } = data;
      const content = settings === undefined ? board : { ...board, settings };
      if (isMarkOf(content.metadata, dashboard)) return { content, digest };
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (error instanceof Refusal) throw error;
      throw refused(error);
    }
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Dashboard ${JSON.stringify(dashboardId)} is not marked as this tenant's copy of template ${JSON.stringify(dashboard.template)}: an operator must look at it.`,
      { reason: 'dashboard-of-a-stranger' },
    );
  },
  tryOut: async ({ dashboardId }, content, { datasource, datamart }, isMeasured) => {
    try {
      const input = {
        ...{ dashboardId, workspaceName, content: withoutSettings(content) },
        ...(isMeasured ? { isMeasured } : {}),
        ...(datasource === undefined ? {} : { datasourceName: datasource }),
        ...(datamart === undefined ? {} : { datamartName: datamart }),
      };
      return (await upstream(tryDashboardContent, input)).data;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw refused(error);
    }
  },
  replace: async ({ dashboardId }, content, expectedDigest) => {
    try {
      const { settings } = content;
      const { digest } = await upstream(replaceDashboardContent, {
        ...{ dashboardId, workspaceName, expectedDigest },
        content: withoutSettings(content),
        ...(settings === undefined ? {} : { settings: settings as CallInput<'settings'> }),
      });
      return { outcome: 'written', digest };
    } catch (error) {
      if (isMissing(error)) return { outcome: 'missing' };
      if (error instanceof UpstreamRefusal && error.code === 'DASHBOARD_CHANGED') return { outcome: 'changed' };
      if (error instanceof Refusal) throw error;
      throw refused(error);
    }
  },
});
