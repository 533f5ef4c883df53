/** Asks for the rows of a metric that is not saved, as the user of a view reads them, and for its statement. */
import type { MetricAnswer } from '../../../model/query/engine.js';
import { answerIn, GuestError, isRecord } from '../../base/client.js';
import { type Answer, type Api, type CommandInput, StudioError, type View } from './api.js';

export type Described = Answer<'metric-statement'>;

type Authored = { readonly view: string; readonly dashboardId: string; readonly definition: object };

/**
 * The statement that would answer the metric, without its values, and the columns of a metric in SQL. Throws what is wrong
 * with the metric.
 */
export const describeAuthored = (api: Api, authored: Authored, signal: AbortSignal): Promise<Described> =>
  api.command('metric-statement', authored as CommandInput<'metric-statement'>, signal);

/** The metric in SQL that answers the same. Throws why it cannot be turned. Stores nothing. */
export const turnAuthored = (
  api: Api,
  authored: Authored,
  signal: AbortSignal,
): Promise<Answer<'metric-to-sql'>['definition']> =>
  api.command('metric-to-sql', authored as CommandInput<'metric-to-sql'>, signal).then(({ definition }) => definition);

/** A failure of Studio as the elements show it: with its message. */
export const toGuestError = (error: unknown): unknown =>
  error instanceof StudioError ? new GuestError(error.code, error.message, error.status, error) : error;

/** Throws GuestError, which the elements know. `ended` is called if the view has ended. */
export const askAuthored = async (
  api: Api,
  { token }: Pick<View, 'token'>,
  body: object,
  signal: AbortSignal,
  ended: () => void,
): Promise<MetricAnswer> => {
  const { definition, ...asked } = body as Omit<CommandInput<'metric-preview'>, 'view'>;
  const whole = { kind: 'visual', ...(definition as object) } as typeof definition;
  try {
    const answered = await api.command('metric-preview', { ...asked, view: token, definition: whole }, signal);
    const answer = isRecord(answered) ? answerIn(answered) : undefined;
    if (answer === undefined) throw new GuestError('UNREADABLE_ANSWER', 'The answer can’t be read.', 200);
    return answer;
  } catch (error) {
    if (error instanceof StudioError && error.code === 'TOKEN_EXPIRED') ended();
    throw toGuestError(error);
  }
};
