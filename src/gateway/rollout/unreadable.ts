/** A template is not rolled out while a metric of it reads a table whose rows belong to nobody: no query answers it. */
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { listUnreadableMetrics } from '../../service/dashboards/contract/content.js';
import type { Policy } from '../policy/policy.js';
import { datamartsOf } from '../policy/tenant-source.js';
import { withoutSettings } from '../provision/template-version.js';
import type { Capabilities } from '../upstream/capabilities.js';
import type { TemplateVersion } from './template-versions.js';

export type UnreadableDeps = { readonly upstream: Call; readonly capabilities: Pick<Capabilities, 'supports'> };

export type Unreadable = { readonly metricId: string; readonly name: string; readonly message: string };

/** The version that is rolled out, which need not be the one that the template has by now. */
type Target = Pick<TemplateVersion, 'template' | 'content'>;

/** Empty for a service that cannot say it: the trial of the canary tenants, and each query, refuse such a metric too. */
export const listUnreadable = async (
  { upstream, capabilities }: UnreadableDeps,
  policy: Policy,
  { template, content }: Target,
): Promise<readonly Unreadable[]> => {
  const settings = policy.templates.get(template)?.accessSettings;
  if (settings === undefined || !(await capabilities.supports('list-unreadable-metrics'))) return [];
  const { tableTenancySettings } = settings;
  const found = new Map<string, Unreadable>();
  for (const datamartName of datamartsOf(policy, template)) {
    const asked = {
      ...{ dashboardId: template, workspaceName: policy.workspace, datamartName, content: withoutSettings(content) },
      ...(tableTenancySettings === undefined ? {} : { tableTenancySettings }),
    };
    const isOwn = datamartName === policy.datamart;
    const { data } = await upstream(listUnreadableMetrics, asked).catch((error: unknown) => {
      // No token reads a datamart that is not there. The check of the policy's names reports it.
      if (!isOwn && error instanceof UpstreamRefusal && error.code === 'INVALID_DATAMART') return { data: [] };
      throw error;
    });
    for (const one of data) {
      const message = isOwn ? one.message : `On datamart ${JSON.stringify(datamartName)}: ${one.message}`;
      if (!found.has(one.metricId)) found.set(one.metricId, { ...one, message });
    }
  }
  return [...found.values()];
};

const mostNamed = 5;

/** Throws NOT_SUPPORTED with each metric and why no query answers it. */
export const assertReadable = async (deps: UnreadableDeps, policy: Policy, target: Target): Promise<void> => {
  const found = await listUnreadable(deps, policy, target);
  if (found.length === 0) return;
  const named = found.slice(0, mostNamed).map(({ name, message }) => `metric ${JSON.stringify(name)}: ${message}`);
  const more = found.length > mostNamed ? ` And ${found.length - mostNamed} more metrics.` : '';
  throw new Refusal(
    'NOT_SUPPORTED',
    `Template ${JSON.stringify(target.template)} cannot be rolled out: it reads tables whose rows belong to nobody. ${named.join(' ')}${more}`,
    { reason: 'rollout-unreadable' },
  );
};
