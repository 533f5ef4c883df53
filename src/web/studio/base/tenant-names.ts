/**
 * The names of tenants, for people who may see data. Each screen shows ids at once; names are asked for afterwards, many in one
 * question, and appear beside the ids when they come. They are kept in the memory of this page only.
 */
import { html, type TemplateResult } from 'lit';
import type { Api } from './api.js';
import { link } from './kit.js';
import { addressOf } from './routes.js';

const event = 'guestlist-studio-names';
const atOnce = 500;
/** Tenants whose names are kept. Those beyond are shown by their ids. */
const most = 10_000;
/** A name that did not come is asked for again after this time. */
const againMs = 30_000;

type Names = {
  readonly api: Api;
  readonly known: Map<string, string>;
  /** When a name was last asked for. */
  readonly askedAt: Map<string, number>;
  readonly wanted: Set<string>;
  isAsking: boolean;
};

let names: Names | null = null;

/** Begins anew for a session; null: nobody is logged in. */
export const startTenantNames = (api: Api | null): void => {
  const mayRead = api?.session.person.seesData === true;
  names = mayRead ? { api, known: new Map(), askedAt: new Map(), wanted: new Set(), isAsking: false } : null;
};

export const watchTenantNames = (changed: () => void, signal: AbortSignal): void =>
  window.addEventListener(event, changed, { signal });

/** Asks for what is wanted, one question after the other. Without an answer, ids stay alone. */
const ask = async (of: Names): Promise<void> => {
  of.isAsking = true;
  while (of.wanted.size > 0 && names === of) {
    const clientIds = [...of.wanted].slice(0, atOnce);
    for (const id of clientIds) {
      of.wanted.delete(id);
      of.askedAt.set(id, Date.now());
    }
    const answer = await of.api.command('tenants-names', { clientIds }).catch(() => ({ names: [] }));
    for (const { clientId, name } of answer.names) of.known.set(clientId, name);
    if (answer.names.length > 0 && names === of) window.dispatchEvent(new Event(event));
  }
  of.isAsking = false;
};

/** The name, if it is known. One that is not is asked for. */
export const tenantName = (id: string): string | undefined => {
  const of = names;
  if (of === null) return undefined;
  const name = of.known.get(id);
  const isDue = Date.now() - (of.askedAt.get(id) ?? 0) > againMs;
  if (name === undefined && isDue && of.askedAt.size + of.wanted.size < most) {
    of.wanted.add(id);
    if (!of.isAsking) {
      of.isAsking = true;
      // After this rendering, which may want more of them.
      queueMicrotask(() => void ask(of));
    }
  }
  return name;
};

/** Name and id as text, for searches and sentences. */
export const tenantText = (id: string): string => {
  const name = tenantName(id);
  return name === undefined || name === id ? id : `${name} (${id})`;
};

/** The name with the id beside it. The name is text of a database: it may be long, and of any direction. */
export const tenantLabel = (id: string): TemplateResult => {
  const name = tenantName(id);
  return name === undefined || name === id
    ? html`${id}`
    : html`<span class="tenant"><bdi class="name" title=${name}>${name}</bdi> <bdi class="soft">${id}</bdi></span>`;
};

export const tenantLink = (id: string): TemplateResult => link(addressOf('tenants', [id]), tenantLabel(id));
