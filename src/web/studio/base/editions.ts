/** The history of a template as the gateway keeps it. */
import { type Api, StudioError } from './api.js';
import type { TemplateData } from './content.js';

export type Edition = {
  readonly number: number;
  readonly version: string;
  readonly label: string | null;
  readonly at: string;
  readonly by: string | null;
  readonly changes: readonly string[];
  readonly copies: number;
  readonly rollouts: readonly {
    readonly id: string;
    readonly state: string;
    readonly startedAt: string;
    readonly startedBy: string | null;
  }[];
};

export type TemplateHistory = {
  readonly editions: readonly Edition[];
  readonly hasMore: boolean;
  /** The version that most copies have. Null: no copy is known. */
  readonly published: string | null;
  /** The version that new tenants get. Null: the current content, since nothing was rolled out to all tenants. */
  readonly newCopies: string | null;
  /** What a roll-out would bring to those copies. */
  readonly unpublished: readonly string[];
};

/** Null: the policy does not name the dashboard, so it is no template and has no history. */
const orNull = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StudioError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
};

export const readHistory = (api: Api, template: string, signal?: AbortSignal): Promise<TemplateHistory | null> =>
  orNull(api.command<TemplateHistory>('template-history', { template }, signal));

/** Records the content that this person has saved as an edition. */
export const recordEdition = async (api: Api, template: string): Promise<void> => {
  await orNull(api.command('template-record', { template }));
};

export const readVersion = (
  api: Api,
  template: string,
  version: string,
): Promise<{ readonly content: Pick<TemplateData, 'layout' | 'filters' | 'metrics'> }> =>
  api.command('template-version', { template, version });

/** The name of a person without the way in which they logged in. */
export const personIn = (by: string | null): string => by?.split(' ').slice(1).join(' ') || by || 'unknown';
