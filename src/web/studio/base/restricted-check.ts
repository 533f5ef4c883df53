/** Runs each metric of a template as one restricted user would read it: a tenant's check has no restriction of a user. */
import { type Api, hasRole, StudioError } from './api.js';
import { askAuthored } from './author-preview.js';
import { listTemplates, readContent } from './content.js';
import { openView, type Viewer, whoSees } from './viewer.js';

/** `who`: the user in words. `faults`: the metrics that this user would not get. */
export type RestrictedCheck = {
  readonly who: string;
  readonly metrics: number;
  readonly faults: readonly { readonly metric: string; readonly text: string }[];
};

/** Users whose restrictions are looked for: each opens a view. */
const mostTried = 5;

/** A user who logged in lately may have lost all access since. */
const noneIfRefused = (error: unknown): null => {
  if (error instanceof StudioError && error.status === 403) return null;
  throw error;
};

const restrictedView = async (api: Api, template: string, signal: AbortSignal) => {
  const { viewers } = await api.command('viewers-list', { template }, signal);
  for (const { clientId, claims, name, roles } of viewers.slice(0, mostTried)) {
    const viewer: Viewer = { clientId, claims, roles, ...(name === null ? {} : { name }) };
    const view = await openView(api, viewer, signal).catch(noneIfRefused);
    const copy = view?.embeds.find(({ id }) => id === template || id.startsWith(`${template}--`));
    const isRestricted = view?.because.some(({ kind }) => kind === 'restriction') === true;
    if (view !== null && copy !== undefined && isRestricted) return { viewer, view, dashboardId: copy.id };
  }
  return null;
};

/** Null: the person may not look as a user, or none of the users who logged in lately is restricted. */
export const checkAsRestricted = async (
  api: Api,
  template: string,
  signal: AbortSignal,
): Promise<RestrictedCheck | null> => {
  if (!api.session.person.seesData || !hasRole(api.session, 'author')) return null;
  const found = await restrictedView(api, template, signal);
  const known = (await listTemplates(api, signal)).find(({ dashboardId }) => dashboardId === template);
  if (found === null || known === undefined) return null;
  const { viewer, view, dashboardId } = found;
  const { data } = await readContent(api, known, signal);
  const metrics = data.metrics.filter(({ placement }) => placement === 'METRIC');
  const faults: { metric: string; text: string }[] = [];
  // One after the other: a check must not take the places of the tenant's users.
  for (const { name, definition } of metrics) {
    const body = { dashboardId, definition, limit: 1 };
    await askAuthored(api, view, body, signal, () => undefined).catch((error: unknown) => {
      if (signal.aborted) throw error;
      faults.push({ metric: name, text: error instanceof Error ? error.message : String(error) });
    });
  }
  return { who: whoSees(viewer), metrics: metrics.length, faults };
};
