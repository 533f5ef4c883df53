/**
 * Marks that the guest chose on one card and that filter the other cards. A card's dimension has at most one mark: another
 * value replaces the mark, and the same value removes the mark.
 */
import { html, type TemplateResult } from 'lit';
import type { CrossFilter, GuestDashboard, GuestMetric } from '../../model/guest/view.js';
import type { AnswerColumn, Cell } from '../../model/query/engine.js';
import type { Text } from '../../model/texts/text.js';
import { type Format, titleOf } from '../base/format.js';
import { closeIcon } from '../base/icons.js';
import { labelOf } from '../charts/model/columns.js';

export type Mark = {
  readonly filter: CrossFilter;
  /** The column and the value in words. */
  readonly label: string;
};

/** From one group of a column to another: what a chart's `period` event carries. */
export type MarkedPeriod = { readonly column: string; readonly from: string; readonly last: string };

/** The metrics that a mark of the column filters. Empty if the service is an earlier one. */
export const filteredBy = ({ chart }: GuestMetric, column: string): readonly string[] => {
  const { crossFilters = {} } = chart;
  return Object.hasOwn(crossFilters, column) ? (crossFilters[column] ?? []) : [];
};

/** Whether a mark of any of the metric's columns filters another. */
export const filtersOthers = ({ chart }: GuestMetric): boolean =>
  Object.values(chart.crossFilters ?? {}).some((others) => others.length > 0);

export const markOf = (metric: GuestMetric, column: AnswerColumn, value: Cell, format: Format): Mark => ({
  filter: { metricId: metric.metricId, columnName: column.name, value },
  label: `${titleOf(column)}: ${labelOf(value, column, metric.chart, format)}`,
});

export const periodOf = (
  metric: GuestMetric,
  column: AnswerColumn,
  { from, last: to }: MarkedPeriod,
  format: Format,
): Mark => {
  const [first, last] = [from, to].map((end) => labelOf(end, column, metric.chart, format));
  return {
    filter: { metricId: metric.metricId, columnName: column.name, from, to },
    label: `${titleOf(column)}: ${first === last ? first : `${first} – ${last}`}`,
  };
};

const isOfSameColumn = (a: CrossFilter, b: CrossFilter): boolean =>
  a.metricId === b.metricId && a.columnName === b.columnName;

export const isSameMark = (a: Mark, b: Mark): boolean => JSON.stringify(a.filter) === JSON.stringify(b.filter);

export const toggled = (marks: readonly Mark[], mark: Mark): readonly Mark[] => {
  const others = marks.filter(({ filter }) => !isOfSameColumn(filter, mark.filter));
  return marks.some((each) => isSameMark(each, mark)) ? others : [...others, mark];
};

/** The marks that the current token's dashboard takes. */
export const openMarks = (marks: readonly Mark[], { metrics }: GuestDashboard): readonly Mark[] =>
  marks.filter(({ filter: { metricId, columnName } }) => {
    const metric = metrics.find((each) => each.metricId === metricId);
    return metric !== undefined && filteredBy(metric, columnName).length > 0;
  });

/** What the marks do to one card: `held` filter the card, `ignored` are of columns that the card does not have. */
export const marksOn = (
  metricId: string,
  marks: readonly Mark[],
  metrics: readonly GuestMetric[],
): { readonly held: readonly string[]; readonly ignored: readonly string[] } => {
  const others = marks.filter(({ filter }) => filter.metricId !== metricId);
  const takes = ({ filter }: Mark): boolean => {
    const source = metrics.find((each) => each.metricId === filter.metricId);
    return source !== undefined && filteredBy(source, filter.columnName).includes(metricId);
  };
  return {
    held: others.filter(takes).map(({ label }) => label),
    ignored: others.filter((mark) => !takes(mark)).map(({ label }) => label),
  };
};

/** One button for each mark, which removes the mark. */
export const markChips = (marks: readonly Mark[], remove: (mark: Mark) => void, text: Text): TemplateResult => html`<div
  class="chips"
  role="group"
  aria-label=${text('Filters from charts')}
  tabindex="-1"
>
  ${marks.map(
    (mark) => html`<button
      class="button chip" part="chip button"
      type="button"
      aria-label=${text('Remove filter {name}', { name: mark.label })}
      title=${text('Remove filter')}
      @click=${() => remove(mark)}
    >
      <span>${mark.label}</span>${closeIcon}
    </button>`,
  )}
</div>`;
