/** The history of a template as the gateway keeps it. */
import { type Answer, type Api, StudioError } from './api.js';

export type TemplateHistory = Answer<'template-history'>;
export type Edition = TemplateHistory['editions'][number];

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
  orNull(api.command('template-history', { template }, signal));

/** Records the content that this person has saved as an edition. */
export const recordEdition = async (api: Api, template: string): Promise<void> => {
  await orNull(api.command('template-record', { template }));
};

/** The name of a person without the way in which they logged in. Null: no person is recorded. */
export const personIn = (by: string | null): string =>
  by?.split(' ').slice(1).join(' ') || by || 'someone outside Studio';
