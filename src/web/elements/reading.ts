/**
 * The state of one card's query: question, answer, error, drill and sort. Sends the query when the question changes and
 * calls `changed` after every change of state. Renders nothing.
 */

import type { Sort } from '../../model/dashboard/metric.js';
import type { GuestMetric } from '../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import type { Question } from '../base/batch.js';
import { type FilterValues, type GuestClient, GuestError, OutageError } from '../base/client.js';
import { type Format, titleOf } from '../base/format.js';
import { createLatest } from '../base/latest.js';
import { columnsOf, labelOf } from '../charts/model/columns.js';
import type { TakenStep } from './drill-trail.js';
import type { Mark } from './marks.js';

/** Where a card reads from: a client with one token, and the dashboard filter that goes with each query. */
export type CardSource = {
  readonly client: GuestClient;
  readonly dashboardId: string | undefined;
  readonly dashboardFilter: FilterValues;
  /** Marks of this card and of others. The card's own filter only the others. */
  readonly marks?: readonly Mark[] | undefined;
};

/** A part of a table that is too long for one answer. */
export type Page = { readonly offset: number; readonly limit: number };

type State = {
  readonly answer: MetricAnswer | undefined;
  readonly error: GuestError | undefined;
  /** Why there is no answer yet, while the connection tries again by itself. What was shown before stays. */
  readonly outage: OutageError | undefined;
  readonly isLoading: boolean;
  readonly drill: readonly TakenStep[];
  readonly sort: Sort | null;
  /** Null: the first rows, as many as one answer holds. */
  readonly page: Page | null;
  /** The page that the shown answer is of. `page` may already be the next. */
  readonly shownPage: Page | null;
  /** When the answer came. */
  readonly answeredAt: Date | undefined;
};

type Events = {
  readonly changed: () => void;
  readonly drilled: () => void;
  /** Called with every failure. Returns true if another element shows the failure; the state then stays `isLoading`. */
  readonly isShownElsewhere: (error: GuestError, client: GuestClient, metricId: string) => boolean;
};

const start: State = {
  answer: undefined,
  error: undefined,
  outage: undefined,
  isLoading: true,
  drill: [],
  sort: null,
  page: null,
  shownPage: null,
  answeredAt: undefined,
};

export class Reading {
  readonly #events: Events;
  readonly #latest = createLatest();
  #state = start;
  /** Resolves when the last question has its answer, failed, or was replaced. */
  settled: Promise<void> | undefined;
  #target: { readonly metric: GuestMetric; readonly source: CardSource } | undefined;
  #asked: { readonly client: GuestClient; readonly key: string } | undefined;

  constructor(events: Events) {
    this.#events = events;
  }

  get state(): State {
    return this.#state;
  }

  /** Sets the metric and its source. A different metric starts without drill and sort, a different question at its first row. */
  read(metric: GuestMetric, source: CardSource): void {
    if (this.#target !== undefined && this.#target.metric.metricId !== metric.metricId) this.#state = start;
    const before = this.#target;
    this.#target = { metric, source };
    const isOther = before !== undefined && wholeKey(before, this.#state) !== wholeKey(this.#target, this.#state);
    if (isOther) this.#state = { ...this.#state, page: null };
    this.#ask();
  }

  /** Sends the current question, even if it was sent before. */
  load(): void {
    if (this.#target === undefined) return;
    const { client } = this.#target.source;
    const { metricId } = this.#target.metric;
    const question = questionOf(this.#target.source, this.#state);
    const { page } = this.#state;
    const part = page ?? pointsOf(this.#target.metric);
    this.#asked = { client, key: keyOf(metricId, this.#target.source, this.#state) };
    this.#set({ isLoading: true, error: undefined, outage: undefined });
    this.settled = this.#latest.run(
      (signal) => client.query(metricId, { ...question, ...part }, signal),
      (answer) =>
        this.#set({
          ...{ answer: partOf(answer, page), shownPage: page, answeredAt: new Date() },
          ...{ isLoading: false, outage: undefined },
        }),
      (error) => this.fail(error, client, metricId),
    );
  }

  cancel(): void {
    this.#latest.cancel();
  }

  fail(error: unknown, client: GuestClient, metricId: string): void {
    const failure =
      error instanceof GuestError ? error : new GuestError('UNEXPECTED', 'This chart can’t be shown.', 0, error);
    if (this.#events.isShownElsewhere(failure, client, metricId)) {
      // The question has no answer yet: the next `read` sends it again, even to the same client.
      this.#asked = undefined;
      if (failure instanceof OutageError) this.#set({ outage: failure });
      return;
    }
    this.#set({ isLoading: false, answer: undefined, answeredAt: undefined, error: failure });
  }

  /** The current question, for a download. */
  question(source: CardSource): Question {
    return questionOf(source, this.#state);
  }

  /** The question for the rows behind the card, or behind one of its marks. */
  rowsQuestion(source: CardSource, metricId: string, mark: Mark | undefined): Question {
    const others = (source.marks ?? []).filter(({ filter }) => filter.metricId !== metricId);
    const marks = mark === undefined ? others : [...others, mark];
    return { ...questionOf({ ...source, marks }, this.#state), sort: undefined };
  }

  /** The first dimension of the answer: the column that marks are of. */
  get markedColumn(): AnswerColumn | undefined {
    const { answer } = this.#state;
    return answer === undefined || this.#target === undefined
      ? undefined
      : columnsOf(answer, this.#target.metric.chart).dimensions[0];
  }

  /** Sorts by a column: descending first, ascending on the second call. */
  sortBy(name: string): void {
    const { sort } = this.#state;
    const isAgain = sort?.name === name && sort.direction === 'DESC';
    this.#choose({ sort: { name, direction: isAgain ? 'ASC' : 'DESC' }, page: null });
  }

  /** Shows the rows from `offset` on. Null: the first rows, as many as one answer holds. */
  turnTo(offset: number | null): void {
    const { answer, page } = this.#state;
    const limit = page?.limit ?? Math.min(answer?.rows.length ?? 0, mostRows);
    const next = offset === null || offset <= 0 || limit === 0 ? null : { offset, limit };
    this.#choose({ page: next });
  }

  drillInto(value: Cell, format: Format): void {
    const { drill } = this.#state;
    const column = this.markedColumn;
    if (this.#target === undefined || column === undefined) return;
    const label = labelOf(value, column, this.#target.metric.chart, format);
    this.#choose({
      drill: [...drill, { columnName: column.name, value, label, title: titleOf(column) }],
      sort: null,
      page: null,
    });
  }

  /** Keeps the first `length` steps of the drill. */
  goBack(length: number): void {
    this.#choose({ drill: this.#state.drill.slice(0, length), sort: null, page: null });
  }

  #choose(choice: Partial<Choices>): void {
    this.#set(choice);
    if (choice.drill !== undefined) this.#events.drilled();
    this.#ask();
  }

  /** Sends the question only if the question or the client has changed. */
  #ask(): void {
    if (this.#target === undefined) return;
    const { metric, source } = this.#target;
    const key = keyOf(metric.metricId, source, this.#state);
    if (this.#asked?.client !== source.client || this.#asked.key !== key) this.load();
  }

  #set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    this.#events.changed();
  }
}

type Choices = Pick<State, 'drill' | 'sort' | 'page'>;

const questionOf = (
  { dashboardId, dashboardFilter, marks = [] }: CardSource,
  { drill, sort }: Pick<Choices, 'drill' | 'sort'>,
): Question => ({
  ...(dashboardId === undefined ? {} : { dashboardId }),
  ...(Object.keys(dashboardFilter).length === 0 ? {} : { dashboardFilter }),
  ...(marks.length === 0 ? {} : { crossFilter: marks.map(({ filter }) => filter) }),
  ...(drill.length === 0 ? {} : { drill: drill.map(({ columnName, value }) => ({ columnName, value })) }),
  ...(sort === null ? {} : { sort: [sort] }),
});

/** More than any card has pixels to show. One number for all widths, so that a resize asks nothing. */
const maxPoints = 4000;

/** A service of the previous release does not know the field, and its charts do not take it. */
const pointsOf = ({ chart }: GuestMetric): Pick<Question, 'maxPoints'> =>
  chart.takesMaxPoints === true ? { maxPoints } : {};

/** Equal for equal answers. The service gets the card's own marks too, so that all cards ask by one request. */
const keyOf = (metricId: string, source: CardSource, choices: Choices): string => {
  const marks = (source.marks ?? []).filter(({ filter }) => filter.metricId !== metricId);
  return JSON.stringify([metricId, questionOf({ ...source, marks }, choices), choices.page]);
};

/** As `keyOf`, for all pages of the answer. */
const wholeKey = (
  { metric, source }: { readonly metric: GuestMetric; readonly source: CardSource },
  choices: Choices,
) => keyOf(metric.metricId, source, { ...choices, page: null });

/** The service takes no greater `limit`. */
const mostRows = 10_000;

/** A page is what the guest asked for, so the service does not call it truncated; for its reader, rows are missing. */
const partOf = (answer: MetricAnswer, page: Page | null): MetricAnswer =>
  page === null ? answer : { ...answer, isTruncated: true };
