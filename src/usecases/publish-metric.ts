/** The host's backend shows a guest's private metric to every user of that client, or takes it back. */
import type { ApiKeyCaller } from '../domain/guest/caller.js';
import { Refusal } from '../domain/refusal.js';
import type { Store } from '../domain/store/store.js';
import { findEmbed } from './embed-lookup.js';

export type PublishMetric = { readonly embedId: string; readonly metricId: string; readonly isPublished: boolean };

/** spec-gap: only what a guest made can be published; what the host made, everyone sees who may. */
export const publishMetric =
  ({ store }: { readonly store: Store }) =>
  async (
    { dataAppId }: ApiKeyCaller,
    { embedId, metricId, isPublished }: PublishMetric,
  ): Promise<{ readonly metricId: string }> => {
    const opened = await findEmbed(store, dataAppId, embedId);
    if (opened === undefined)
      throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${JSON.stringify(embedId)}.`);
    const metric = await store.guestMetrics.findById(metricId);
    const isThere = metric?.owner.dataAppId === dataAppId && metric.guest.dashboardId === opened.dashboard.id;
    if (!isThere || !(await store.guestMetrics.change(metricId, { isPublished }))) {
      throw new Refusal(
        'INVALID_METRIC_ID',
        `Embed ${JSON.stringify(embedId)} has no metric ${JSON.stringify(metricId)} that a guest made.`,
      );
    }
    return { metricId };
  };
