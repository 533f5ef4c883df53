/**
 * Which cards of a dashboard restrictions close, and by which line of the policy. The service says which metrics it would
 * refuse; this file only adds the places in the policy. Values of restrictions are never sent: the answer follows from
 * definitions alone.
 */
import { z } from 'zod';
import type { NamedRestrictions, RefusedBy } from '../../model/guest/refused-metrics.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { listRefusedMetrics } from '../../service/dashboards/contract/content.js';
import { type AppliedRestriction, boundFields, type CombinedRestrictions } from '../policy/combine.js';
import type { Policy } from '../policy/policy.js';
import type { SourceNames } from '../policy/source-names.js';
import { settingsFor } from '../provision/template-version.js';
import type { Capabilities } from '../upstream/capabilities.js';

const refusedCard = z.object({
  metricId: z.string(),
  name: z.string(),
  /** `token`: a user with these restrictions gets no token, and so nothing of what is granted. */
  refuses: z.enum(['metric', 'token']),
  /** `definition`: it is refused without restrictions too. */
  cause: z.enum(['hidden', 'column', 'restriction', 'definition']),
  /** The settings that are the cause, with the restrictions of the policy and their places as `file:line:column`. */
  by: z.array(
    z.object({ field: z.string(), name: z.string(), from: z.array(z.object({ name: z.string(), at: z.string() })) }),
  ),
  message: z.string(),
});
export type RefusedCard = Readonly<z.output<typeof refusedCard>>;

export const dashboardCards = z.object({
  /** The template, or the id of the embed. */
  source: z.string(),
  /** The number of cards on the dashboard. */
  cards: z.number(),
  refused: z.array(refusedCard),
  /** Why a user with these rules for columns gets no token at all. */
  refusal: z.string().nullable(),
});
export type DashboardCards = Readonly<z.output<typeof dashboardCards>>;

/** A dashboard with the restrictions that apply. */
export type CardsOf = {
  readonly policy: Policy;
  /** The template, or the id of the embed. */
  readonly source: string;
  /** Its dashboards of the tenant, of which the first that exists is read, else the template. Undefined: the template. */
  readonly ofTenant?: { readonly clientId: string; readonly dashboardId: string } | undefined;
  readonly names?: SourceNames | undefined;
  readonly restrictions: CombinedRestrictions;
};

/** Undefined: the service cannot say it, or has no such dashboard. */
export type CheckCards = (of: CardsOf) => Promise<DashboardCards | undefined>;

const namedOf = (combined: CombinedRestrictions, source: string): NamedRestrictions => ({
  dashboardFilters: [...combined.dashboardFilters.keys()],
  appFilters: [...combined.appFilters.keys()],
  rls: [...combined.rls.keys()],
  hideDashboardFilters: [...combined.hideDashboardFilters.keys()],
  hideMetrics: [...(combined.hideMetrics.get(source)?.keys() ?? [])],
  hideColumns: [...combined.hideColumns.keys()],
  maskColumns: Object.fromEntries([...combined.maskColumns].map(([column, { value }]) => [column, value])),
});

const isBoundField = (field: string): field is (typeof boundFields)[number] => boundFields.some((one) => one === field);

const contributors = (
  combined: CombinedRestrictions,
  source: string,
  { field, name }: RefusedBy,
): readonly AppliedRestriction[] => {
  if (isBoundField(field)) {
    const lower = name.toLowerCase();
    return [...combined[field]].find(([key]) => key === name || key.toLowerCase() === lower)?.[1].from ?? [];
  }
  if (field === 'maskColumns') return combined.maskColumns.get(name)?.from ?? [];
  if (field === 'hideMetrics') return combined.hideMetrics.get(source)?.get(name) ?? [];
  return combined[field].get(name) ?? [];
};

/** The place of the expression for this filter or variable, else that of the restriction. */
const placeOf = ({ rule: { when, restrict } }: AppliedRestriction, { field, name }: RefusedBy): string => {
  if (!isBoundField(field)) return when.at;
  const lower = name.toLowerCase();
  return [...restrict[field]].find(([key]) => key.toLowerCase() === lower)?.[1].at ?? when.at;
};

const placed = (combined: CombinedRestrictions, source: string, by: RefusedBy) => ({
  ...by,
  from: contributors(combined, source, by).map((one) => ({ name: one.rule.name, at: placeOf(one, by) })),
});

const unknownDashboard = 'INVALID_DASHBOARD_ID';

export const createCheckCards =
  ({ upstream, capabilities }: { readonly upstream: Call; readonly capabilities: Capabilities }): CheckCards =>
  async ({ policy, source, ofTenant, names = {}, restrictions }) => {
    if (!(await capabilities.supports('list-refused-metrics'))) return undefined;
    const template = policy.templates.get(source);
    const settings = template && settingsFor(template, await capabilities.supports('guest-boards')).accessSettings;
    const datamartName = template?.accessSettings.datamartName ?? policy.datamart;
    const ask = async (dashboardId: string, clientId: string | undefined) => {
      try {
        return await upstream(listRefusedMetrics, {
          ...{ dashboardId, workspaceName: policy.workspace },
          ...(clientId === undefined ? {} : { clientId }),
          ...(settings === undefined ? {} : { accessSettings: { ...settings, datamartName } }),
          ...(names.datasource === undefined ? {} : { datasourceName: names.datasource }),
          ...(names.datamart === undefined ? {} : { datamartName: names.datamart }),
          restrictions: wireOf(namedOf(restrictions, source)),
        });
      } catch (error) {
        if (error instanceof UpstreamRefusal && error.code === unknownDashboard) return undefined;
        throw error;
      }
    };
    const own = ofTenant === undefined ? undefined : await ask(ofTenant.dashboardId, ofTenant.clientId);
    const answered = own ?? (template === undefined ? undefined : await ask(source, ofTenant?.clientId));
    if (answered === undefined) return undefined;
    const cards = answered.data.filter(({ placement }) => placement === 'METRIC');
    return {
      ...{ source, cards: cards.length, refusal: answered.refusal },
      refused: cards.flatMap(({ metricId, name, refusal }) =>
        refusal === null
          ? []
          : [
              {
                ...{ metricId, name, refuses: refusal.refuses, cause: refusal.cause, message: refusal.message },
                by: refusal.by.map((one) => placed(restrictions, source, one)),
              },
            ],
      ),
    };
  };

/** Lists of the domain are read-only; those of the wire are not. */
const wireOf = ({ maskColumns, ...lists }: NamedRestrictions) => ({
  dashboardFilters: [...lists.dashboardFilters],
  appFilters: [...lists.appFilters],
  rls: [...lists.rls],
  hideDashboardFilters: [...lists.hideDashboardFilters],
  hideMetrics: [...lists.hideMetrics],
  hideColumns: [...lists.hideColumns],
  maskColumns: { ...maskColumns },
});
