/** Operation 3, and later changes of a data app to its embeds and dashboards. */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { type AccessSettings, type Embed, missingSettings, type SettingsChange } from '../../model/dashboard/embed.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import { Refusal } from '../../model/refusal.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import type { Store } from '../store/store.js';
import { assertTenancySettings, loadEmbedDatamart } from './source.js';

type Deps = { readonly store: Store };

const quote = (name: string): string => JSON.stringify(name);

/** Operation 3. Throws INVALID_REQUEST_BODY if this data app does not have the embed. */
export const deleteEmbed =
  ({ store }: Deps) =>
  ({ dataAppId }: ApiKeyCaller, { embedId }: { readonly embedId: string }): Promise<Embed> =>
    store.transaction(async (inner) => {
      const embed = await inner.embeds.findById(dataAppId, embedId);
      if (embed === undefined || !(await inner.embeds.delete(dataAppId, embedId))) {
        throw new Refusal('INVALID_REQUEST_BODY', `embedId: this data app has no embed ${quote(embedId)}.`, {
          reason: 'embed-unknown',
        });
      }
      return embed;
    });

/** Returns the locked embed, so that two simultaneous changes cannot overwrite each other. */
const lockEmbed = async (store: Store, dataAppId: string, embedId: string): Promise<Embed> => {
  const embed = await store.embeds.lock(dataAppId, embedId);
  if (embed === undefined) throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${quote(embedId)}.`);
  return embed;
};

const given = (changes: SettingsChange): SettingsChange =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));

/**
 * Returns the settings after the changes. spec-gap: an embed without settings must get complete ones, since missing
 * ones would otherwise get silent defaults.
 */
const merge = (embed: Embed, changes: SettingsChange): AccessSettings => {
  const merged = { ...embed.accessSettings, ...given(changes) };
  const missing = missingSettings(merged);
  if (missing.length === 0) return merged as AccessSettings;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `accessSettings: embed ${quote(embed.embedId)} has none yet; give ${missing.join(', ')} too.`,
    { reason: 'settings-incomplete' },
  );
};

/** Checks the new settings in the same way as those of a new embed. */
export const assertSettings = async (store: Store, dashboard: Dashboard, settings: AccessSettings): Promise<void> => {
  const workspace = await store.workspaces.findById(dashboard.workspaceId);
  if (workspace === undefined) throw new Error(`dashboard ${dashboard.id} has no workspace`);
  const { datamartName } = settings;
  if (datamartName === undefined) return;
  const datamart = await loadEmbedDatamart(store, workspace, datamartName);
  assertTenancySettings(datamart, settings);
  if (dashboard.owner !== null) await loadTenantScope(store, datamart, dashboard.owner.clientId);
};

type UpdateEmbed = { readonly embedId: string; readonly accessSettings: SettingsChange };

/**
 * Changes the settings. Every read loads the embed's settings, so the next read with any valid token uses the new ones.
 */
export const updateEmbed =
  ({ store }: Deps) =>
  ({ dataAppId }: ApiKeyCaller, { embedId, accessSettings }: UpdateEmbed): Promise<Embed> =>
    store.transaction(async (inner) => {
      const embed = await lockEmbed(inner, dataAppId, embedId);
      const dashboard = await inner.dashboards.findById(embed.dashboardId);
      if (dashboard === undefined) throw new Error(`embed ${embedId} has no dashboard`);
      const updated = { ...embed, accessSettings: merge(embed, accessSettings) };
      await assertSettings(inner, dashboard, updated.accessSettings);
      await inner.embeds.update(updated);
      return updated;
    });

/** Throws INVALID_EMBED_ID if this data app does not have the embed. */
export const renameEmbed =
  ({ store }: Deps) =>
  (
    { dataAppId }: ApiKeyCaller,
    { embedId, name }: { readonly embedId: string; readonly name: string },
  ): Promise<Embed> =>
    store.transaction(async (inner) => {
      const renamed = { ...(await lockEmbed(inner, dataAppId, embedId)), name };
      await inner.embeds.update(renamed);
      return renamed;
    });

/**
 * Deletes a client's dashboard of this data app. Throws INVALID_DASHBOARD_ID for any other dashboard, as if it did not
 * exist.
 */
export const deleteDashboard =
  ({ store }: Deps) =>
  ({ dataAppId }: ApiKeyCaller, { dashboardId }: { readonly dashboardId: string }): Promise<Dashboard> =>
    store.transaction(async (inner) => {
      const dashboard = await inner.dashboards.findByExternalId(dataAppId, dashboardId);
      if (dashboard === undefined || dashboard.owner?.dataAppId !== dataAppId) {
        throw new Refusal(
          'INVALID_DASHBOARD_ID',
          `No client of this data app has a dashboard ${quote(dashboardId)}; dashboards of the organization are not deleted here.`,
        );
      }
      await inner.dashboards.delete(dashboard);
      return dashboard;
    });
