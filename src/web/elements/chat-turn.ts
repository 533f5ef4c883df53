/** One question with its answer, as the page keeps it. Pure. */
import type { ChatAnswer, ChatTurn } from '../../model/chat/chat.js';
import type { Suggestion } from '../../model/chat/suggestions.js';
import type { NewGuestDefinition } from '../../model/guest/metric.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { Text } from '../../model/texts/text.js';
import { type FilterValues, isRecord } from '../base/client.js';
import { failureText } from '../base/failure.js';
import type { Format } from '../base/format.js';
import { groupWords, measureWords } from '../editor/definition-words.js';
import { viewOf } from '../editor/preview.js';

/** Characters of a question, and how many earlier ones go with it, as the service takes them. */
export const greatestQuestion = 2_000;
const mostTurns = 10;

export type Turn = {
  readonly id: number;
  readonly question: string;
  /** The filters that held when it was asked. */
  readonly filters: FilterValues;
  /** Undefined: the answer has not come, or never will. */
  readonly answer?: ChatAnswer | undefined;
  readonly problem?: string | undefined;
  readonly saved?: 'saving' | 'saved' | undefined;
  /** Why it was not saved. */
  readonly unsaved?: string | undefined;
};

/** Returns undefined for what is no answer. */
export const answerIn = (data: unknown): ChatAnswer | undefined =>
  isRecord(data) && 'metric' in data && Array.isArray(data.labels) ? (data as ChatAnswer) : undefined;

/** What goes with the next question: the latest answered ones. */
export const sentTurns = (turns: readonly Turn[]): readonly ChatTurn[] =>
  turns
    .flatMap(({ question, answer }) =>
      answer === undefined ? [] : [{ question, text: answer.text, metric: answer.metric }],
    )
    .slice(-mostTurns);

/** The metric as a card shows it. */
export const metricOf = (id: number, name: string, definition: NewGuestDefinition): GuestMetric => {
  const { dimensions = [], measures = [], calculations = [], comparison = null } = definition;
  const { chart } = definition;
  return { ...viewOf({ chart, dimensions, measures, calculations, comparison }, name), metricId: `chat-${id}` };
};

/** What the reader is told of a question that has no answer. */
export const chatProblem = (error: unknown, text: Text): string => {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  switch (code) {
    case 'MODEL_UNAVAILABLE':
      return text('The assistant can’t be reached now. Try again later.');
    case 'MODEL_ANSWER_INVALID':
    case 'CHAT_LIMIT_REACHED':
      return text('The assistant found no answer. Ask a simpler question, or in other words.');
    case 'RATE_LIMITED':
      return text('These were many questions. Wait a minute, then ask again.');
    default:
      return failureText(error, text);
  }
};

/** Returns nothing for what is no list of suggestions. */
export const suggestionsIn = (data: unknown): readonly Suggestion[] =>
  Array.isArray(data) ? data.filter((one): one is Suggestion => isRecord(one) && isRecord(one.definition)) : [];

/** A suggestion as a title: its measure by its group. */
export const suggestionName = ({ definition, labels }: Suggestion, format: Format): string => {
  const { dimensions: [group] = [], measures: [measure] = [] } = definition;
  const words = { format, labels };
  const name = measure === undefined ? '' : measureWords(words, measure);
  return group === undefined ? name : format.text('{name} by {group}', { name, group: groupWords(words, group) });
};
