/** The picture of a card, from what the card shows: the same answer, format, theme and width. */
import type { GuestMetric } from '../../model/guest/view.js';
import type { MetricAnswer } from '../../model/query/engine.js';
import { type Format, titleOf } from '../base/format.js';
import { readChartTheme } from '../base/theme.js';
import type { ChartView } from '../charts/chart-view.js';
import { columnsOf, labelOf, measureText, overlapNote, truncationNote, valueLabel } from '../charts/model/columns.js';
import type { CardPicture, Content, ImageType, TableRow } from '../charts/pictures/content.js';
import { drawPicture } from '../charts/pictures/draw.js';
import { pivotOf } from '../charts/pivot.js';
import { rendererOf } from '../charts/registry.js';
import type { SingleValue } from '../charts/single-value.js';

export type Shown = {
  readonly metric: GuestMetric;
  readonly answer: MetricAnswer;
  readonly view: { readonly format: Format; readonly colours: readonly string[] };
  /** The filters' values and the steps of the drill, in words. */
  readonly notes: readonly string[];
  readonly isTable: boolean;
  readonly madeAt: Date;
  readonly language: string;
  /** The card's element, and the part that its content takes. */
  readonly card: HTMLElement;
  readonly body: HTMLElement;
};

/** A picture of more rows could not be read. */
const mostRows = 100;

const tableContent = ({ metric, answer, view }: Shown): Content => {
  const { chart } = metric;
  const { dimensions, measures } = columnsOf(answer, chart);
  const columns = [...dimensions, ...measures];
  const { format } = view;
  const rows = answer.rows.slice(0, mostRows).map(
    (row): TableRow => ({
      isStrong: false,
      cells: columns.map((column) => {
        const value = row[column.name] ?? null;
        const label = valueLabel(value, column);
        if (label !== undefined) return label;
        if (measures.includes(column)) return measureText(row, column, chart, format);
        return value === null ? '—' : labelOf(value, column, chart, format);
      }),
    }),
  );
  const heads = { isStrong: true, cells: columns.map(titleOf) };
  return { kind: 'table', rows: [heads, ...rows], isNumber: columns.map(({ dataType }) => dataType === 'number') };
};

const pivotContent = ({ metric, answer, view }: Shown): Content => {
  const pivot = pivotOf(answer, metric.chart, view.format);
  const names = pivot.downNames;
  const heads = pivot.heads.map((head, index): TableRow => {
    const spread = head.flatMap(({ text, span }) => [text, ...Array.from({ length: span - 1 }, () => '')]);
    const before = index === pivot.heads.length - 1 ? names : names.map(() => '');
    return { isStrong: true, cells: [...before, ...spread] };
  });
  const rows = pivot.rows
    .slice(0, mostRows)
    .map(({ kind, labels, cells }) => ({ isStrong: kind !== 'row', cells: [...labels, ...cells] }));
  const count = Math.max(0, ...rows.map(({ cells }) => cells.length));
  return {
    kind: 'table',
    rows: [...heads, ...rows],
    isNumber: Array.from({ length: count }, (_, index) => index >= names.length),
  };
};

/** A single value is taken from the card, which has chosen its words. */
const valueContent = async ({ body }: Shown): Promise<Content> => {
  const shown = body.querySelector<SingleValue>('guestlist-value');
  await shown?.updateComplete;
  const texts = [...(shown?.renderRoot.querySelectorAll('.single > p') ?? [])].map(
    ({ textContent }) => textContent ?? '',
  );
  const [value = '', ...lines] = texts;
  return { kind: 'value', value: value.trim(), lines: lines.map((line) => line.trim()) };
};

const contentOf = async (shown: Shown): Promise<Content> => {
  const { metric, answer, view, isTable, body, card } = shown;
  const renderer = rendererOf(metric.chart.type);
  if (renderer.kind === 'singleValue') return valueContent(shown);
  if (isTable || renderer.kind === 'table') return tableContent(shown);
  if (renderer.kind !== 'chart') return pivotContent(shown);
  const { draw, start } = await renderer.load();
  const theme = readChartTheme(card, view.colours);
  const size = { width: body.clientWidth, height: Math.max(180, body.clientHeight) };
  const { name, chart } = metric;
  const shownChart = body.querySelector<ChartView>('guestlist-chart');
  const choice = shownChart?.choice ?? { hidden: new Set<string>(), zoom: null };
  const slots = shownChart?.shownSlots;
  const drawing = { name, answer, chart, format: view.format, theme, isReducedMotion: true, choice, slots, ...size };
  return { kind: 'chart', drawing, draw, start };
};

/** How many rows the picture lacks. */
const missingOf = (answer: MetricAnswer, content: Content, format: Format): string | null => {
  const isCut = content.kind === 'table' && answer.rows.length > mostRows;
  if (isCut) return format.text('{n} of {total} rows', { n: mostRows, total: answer.totalRecords });
  return truncationNote(answer, format);
};

const momentOf = (moment: Date, language: string): string => {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat(language, style).format(moment);
  } catch {
    // The page names a language that the browser does not know.
    return new Intl.DateTimeFormat('en', style).format(moment);
  }
};

/** Draws the card as a picture, with title, filters, moment, and what is missing. */
export const pictureOf = async (shown: Shown, type: ImageType): Promise<Blob> => {
  const { metric, answer, view, notes, madeAt, language, card } = shown;
  const content = await contentOf(shown);
  const missing = missingOf(answer, content, view.format);
  const picture: CardPicture = {
    title: metric.name,
    notes,
    feet: [missing, overlapNote(answer, view.format), momentOf(madeAt, language)].filter((foot) => foot !== null),
    width: card.clientWidth,
    theme: readChartTheme(card, view.colours),
    content,
  };
  return drawPicture(picture, type);
};
