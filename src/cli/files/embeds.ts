/** Embeds of the organization's dashboards, as the service lists them and as a file describes them. Pure. */
import type { z } from 'zod';
import type { listEmbeds } from '../../service/embeds/contract/embeds.js';
import { type EmbedFile, embedFile, fileIdsOf, type StoredDashboard } from './formats.js';

export type StoredEmbed = { readonly embedId: string; readonly value: EmbedFile };
/** `repeated`: names that several embeds have, so that no file can describe them. */
export type StoredEmbeds = { readonly own: readonly StoredEmbed[]; readonly repeated: readonly string[] };

type Listed = z.output<(typeof listEmbeds)['output']>['data'][number];

const shows = ({ value, content }: StoredDashboard, { externalDashboard, externalMetric }: Listed): boolean =>
  externalMetric === null
    ? value.dashboardId === externalDashboard?.externalDashboardId
    : content.data.metrics.some(({ metricId }) => metricId === externalMetric.metricId);

/** Returns undefined if the embed shows none of the dashboards. */
const storedEmbed = (listed: Listed, dashboards: readonly StoredDashboard[]): StoredEmbed | undefined => {
  const shown = dashboards.find((dashboard) => shows(dashboard, listed));
  if (shown === undefined) return undefined;
  const { embedId, embedType, name, externalMetric, accessSettings } = listed;
  const { workspaceName, dashboardId } = shown.value;
  const own = externalMetric?.metricId;
  const metricId = own === undefined ? {} : { metricId: fileIdsOf(shown.content.data.metrics).get(own) ?? own };
  const set = Object.entries(accessSettings ?? {}).filter(([, value]) => value !== null);
  const settings = accessSettings == null ? {} : { accessSettings: Object.fromEntries(set) };
  const parsed = embedFile.safeParse({ embedType, workspaceName, dashboardId, ...metricId, name, ...settings });
  return parsed.success ? { embedId, value: parsed.data } : undefined;
};

/** `dashboards` are those of the organization: the embeds of clients' copies, which may share a name, are left out. */
export const storedEmbeds = (listed: readonly Listed[], dashboards: readonly StoredDashboard[]): StoredEmbeds => {
  const found = listed.flatMap((each) => storedEmbed(each, dashboards) ?? []);
  const isAlone = ({ value }: StoredEmbed): boolean =>
    found.filter((other) => other.value.name === value.name).length === 1;
  const repeated = found.filter((each) => !isAlone(each)).map(({ value }) => value.name);
  return { own: found.filter(isAlone), repeated: [...new Set(repeated)] };
};

/** Returns the embed in its canonical form. `known`: the service's, which keeps the settings that a file leaves out. */
export const canonicalEmbed = (given: EmbedFile, known?: EmbedFile): EmbedFile => {
  const settings = { ...known?.accessSettings, ...given.accessSettings };
  const { accessSettings: _, ...rest } = given;
  return (Object.keys(settings).length === 0 ? rest : { ...rest, accessSettings: settings }) as EmbedFile;
};
