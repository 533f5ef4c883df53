/** What a guest token opens: dashboards and metric embeds, with what it may call on each. */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { Embed } from '../../model/dashboard/embed.js';
import { permittedOperations } from '../../model/guest/access.js';
import type { GuestCaller, LiveGrant } from '../../model/guest/caller.js';
import type { GuestEmbeds } from '../../model/guest/view.js';
import { Refusal } from '../../model/refusal.js';
import type { ContentStore } from '../store/content.js';
import type { Store } from '../store/store.js';
import { translationOf } from './labels.js';
import { maySchedule, type SchedulingDeps } from './may-schedule.js';
import { openDashboard, openMetric } from './scope.js';

const allowedEmbeds = async (store: ContentStore, grant: LiveGrant): Promise<readonly Embed[]> => {
  if (grant.allowedEmbeds === null) return store.embeds.listByClient(grant);
  const named = await Promise.all(grant.allowedEmbeds.map((id) => store.embeds.findById(grant.dataAppId, id)));
  return named.filter((embed) => embed !== undefined);
};

/** Returns nothing where the token does not open it. */
const ifOpen = async <T>(open: Promise<T>): Promise<readonly T[]> => {
  try {
    return [await open];
  } catch (error) {
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') return [];
    throw error;
  }
};

/** Returns every dashboard and metric embed that this token opens, by the same checks as reading it. */
export const listGuestEmbeds =
  ({ store, reports }: SchedulingDeps & { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { language }: { readonly language?: string | undefined }): Promise<GuestEmbeds> => {
    const content = store.contentAt(grant.revision);
    const nameOf = async (dashboard: Dashboard, name: string): Promise<string> =>
      (await translationOf(content, dashboard, language)).name(name);
    const embeds = await allowedEmbeds(content, grant);
    const listed = await Promise.all(
      embeds.map(async (embed): Promise<Partial<GuestEmbeds>> => {
        const { embedId, embedType } = embed;
        const operations = permittedOperations(grant, embed, maySchedule({ reports }, grant, embed));
        if (embedType === 'metric') {
          const open = await ifOpen(openMetric(content, grant, embedId, undefined));
          const names = open.map(({ metric, opened }) => nameOf(opened.dashboard, metric.name));
          return { metrics: (await Promise.all(names)).map((name) => ({ metricId: embedId, name, operations })) };
        }
        const open = await ifOpen(openDashboard(content, grant, embedId));
        const names = open.map(({ dashboard }) => nameOf(dashboard, dashboard.name));
        return { dashboards: (await Promise.all(names)).map((name) => ({ dashboardId: embedId, name, operations })) };
      }),
    );
    return {
      dashboards: listed.flatMap(({ dashboards = [] }) => dashboards),
      metrics: listed.flatMap(({ metrics = [] }) => metrics),
    };
  };
