/**
 * Erases a tenant at the analytics service. Guestlist's own service has one operation for this. At another service of
 * the interface, the embeds that the gateway made are deleted, and the report lists the data that the interface cannot
 * delete. Such a service takes no fence: an eraser that was presumed dead and goes on after a new sign-up may delete
 * embeds of it, which the next login creates again.
 */

import { Refusal } from '../../model/refusal.js';
import { counted } from '../../model/texts/counted.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { deleteDashboard } from '../../service/dashboards/contract/dashboards.js';
import { eraseClient } from '../../service/data-apps/contract/client-erasure.js';
import { deleteEmbed, listEmbeds } from '../../service/embeds/contract/embeds.js';
import type { Erased, Eraser } from '../common/eraser.js';
import { unavailable } from '../upstream/unavailable.js';

export type ErasureCapability = 'erase-client' | 'fence-erasures' | 'delete-dashboard';

/**
 * Throws NOT_SUPPORTED if the upstream lacks the capability, or UPSTREAM_UNAVAILABLE if that cannot be determined now.
 */
export type RequireCapability = (name: ErasureCapability) => Promise<void>;

export type UpstreamErasureOptions = { readonly upstream: Call; readonly requireCapability: RequireCapability };

const createSupports =
  (requireCapability: RequireCapability) =>
  async (name: ErasureCapability): Promise<boolean> => {
    try {
      await requireCapability(name);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'NOT_SUPPORTED') return false;
      throw error;
    }
  };

const maxPages = 10_000;

/** Returns the dashboards that the gateway created for the client, found by the mark in their metadata. */
const listOwn = async (upstream: Call, clientId: string): Promise<readonly string[]> => {
  const seen = new Set<string>();
  const own = new Set<string>();
  for (let pageNumber = 1; pageNumber <= maxPages; pageNumber += 1) {
    const { data } = await asUnavailable(upstream)(listEmbeds, { isPagination: true, pageNumber });
    const before = seen.size;
    for (const { embedId, externalDashboard } of data) {
      seen.add(embedId);
      const mark = externalDashboard?.metadata?.guestlist;
      const isOwn = typeof mark === 'object' && mark !== null && 'clientId' in mark && mark.clientId === clientId;
      if (isOwn) own.add(embedId);
    }
    // A service without paging returns all embeds for each page. Stop if a page has no new embed.
    if (seen.size === before) break;
  }
  return [...own];
};

/**
 * Converts a refusal to UPSTREAM_UNAVAILABLE. These operations are always allowed, so the service or the key is at
 * fault, and a retry makes sense.
 */
const asUnavailable =
  (upstream: Call): Call =>
  async (operation, input) => {
    try {
      return await upstream(operation, input);
    } catch (error) {
      throw error instanceof UpstreamRefusal ? unavailable('erasure-refused', error) : error;
    }
  };

/** Ignores a refusal, e.g. because the item was already deleted. The listing afterwards shows the remaining items. */
const unlessGone = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
  }
};

const eraseByParts = async (
  { upstream }: UpstreamErasureOptions,
  clientId: string,
  deletesDashboards: boolean,
): Promise<Erased> => {
  const own = await listOwn(upstream, clientId);
  for (const id of own) {
    if (deletesDashboards) await unlessGone(upstream(deleteDashboard, { dashboardId: id }));
    else await unlessGone(upstream(deleteEmbed, { embedId: id }));
  }
  const still = await listOwn(upstream, clientId);
  const left = [
    ...(deletesDashboards
      ? []
      : ['the dashboards beneath the embeds: this service has no operation that deletes them']),
    'what guests made, arranged and saved, and guest tokens until they expire: this service has no operation that erases a client',
    ...(still.length === 0 ? [] : [`${counted(still.length, 'embed')} that the service did not delete`]),
  ];
  return { erased: { [deletesDashboards ? 'dashboards' : 'embeds']: own.length - still.length }, left };
};

export const createUpstreamEraser = (options: UpstreamErasureOptions): Eraser => {
  const supports = createSupports(options.requireCapability);
  return {
    where: 'analytics service',
    erase: async ({ clientId }, { fence }) => {
      if (await supports('erase-client')) {
        const fenced = (await supports('fence-erasures')) ? { fence: String(fence) } : {};
        return { erased: (await asUnavailable(options.upstream)(eraseClient, { clientId, ...fenced })).data };
      }
      return eraseByParts(options, clientId, await supports('delete-dashboard'));
    },
  };
};
