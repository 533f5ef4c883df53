/** A pivot table: some dimensions down, others across, with subtotals and totals where values combine. Pure. */
import type { Combine, GuestChart } from '../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../model/query/engine.js';
import type { Text } from '../../model/texts/text.js';
import { type Format, numberOf, numbersOf, titleOf } from '../base/format.js';
import { columnsOf, combineOf, labelOf, measureText, overlapNote, type Row } from './model/columns.js';
import { together } from './model/plot.js';

export type PivotRow = {
  /** `group` is the subtotal of the rows with the same first label; `total` is the last row. */
  readonly kind: 'row' | 'group' | 'total';
  readonly labels: readonly string[];
  readonly cells: readonly string[];
  /** Of the first label, if marks are of its column; undefined: none can be chosen here. */
  readonly value?: Cell | undefined;
};

export type Pivot = {
  readonly downNames: readonly string[];
  /** Header rows: one for each dimension across and, with several measures, one for their names. */
  readonly heads: readonly (readonly { readonly text: string; readonly span: number }[])[];
  readonly rows: readonly PivotRow[];
  readonly notes: readonly string[];
};

/** Columns that are drawn at most; a table of more cannot be read, and would slow the page. */
const maxColumns = 60;

type Layout = {
  readonly down: readonly AnswerColumn[];
  readonly across: readonly AnswerColumn[];
  readonly measures: readonly AnswerColumn[];
};

/** Without `across`, the last dimension of two or more goes across. */
const layoutOf = (answer: MetricAnswer, chart: GuestChart): Layout => {
  const { dimensions, measures } = columnsOf(answer, chart);
  const named = dimensions.filter(({ name }) => chart.across?.includes(name));
  const across = named.length > 0 || dimensions.length < 2 ? named : dimensions.slice(-1);
  return { down: dimensions.filter((column) => !across.includes(column)), across, measures };
};

type Column = { readonly key: string | null; readonly labels: readonly string[]; readonly measure: AnswerColumn };

export const pivotOf = (answer: MetricAnswer, chart: GuestChart, format: Format): Pivot => {
  const { down, across, measures } = layoutOf(answer, chart);
  const textOf = (row: Row, columns: readonly AnswerColumn[]) =>
    columns.map((column) => labelOf(row[column.name], column, chart, format));
  const keyOf = (row: Row, columns: readonly AnswerColumn[]) =>
    JSON.stringify(columns.map(({ name }) => row[name] ?? null));
  const heads = new Map(answer.rows.map((row) => [keyOf(row, across), textOf(row, across)]));
  const keys = inOrder(heads, answer.rows, across);
  const kept = keys.slice(0, Math.max(1, Math.floor(maxColumns / Math.max(1, measures.length))));
  const isCut = answer.isTruncated === true;
  const combinedBy = (measure: AnswerColumn) => combineOf(chart, measure);
  const hasTotals = across.length > 0 && measures.some((measure) => combinedBy(measure) !== undefined);
  const columns: readonly Column[] = [
    ...kept.flatMap((key) => measures.map((measure) => ({ key, labels: heads.get(key) ?? [], measure }))),
    ...(hasTotals
      ? measures.map((measure) => ({
          key: null,
          labels: [totalName(format.text, isCut), ...across.slice(1).map(() => '')],
          measure,
        }))
      : []),
  ];
  const cellsOf = (rows: readonly Row[]) => {
    const byKey = groupBy(rows, (row) => keyOf(row, across));
    return columns.map(({ key, measure }) => {
      const held = key === null ? rows : (byKey.get(key) ?? []);
      return cellText(held, measure, combinedBy(measure), chart, format);
    });
  };
  return {
    downNames: down.map(titleOf),
    heads: headsOf(columns, across.length, measures),
    rows: rowsOf(answer.rows, {
      down,
      textOf,
      keyOf,
      cellsOf,
      text: format.text,
      isCut,
      canTotal: measures.some((each) => combinedBy(each) !== undefined),
      marked: columnsOf(answer, chart).dimensions[0]?.name,
    }),
    notes: notesOf(answer, keys.length - kept.length, format),
  };
};

/** `n`: how many columns are left out. */
const notesOf = (answer: MetricAnswer, n: number, format: Format): readonly string[] => {
  const cut = n > 0 ? format.text('{n} more columns are not shown', { n }) : null;
  return [cut, overlapNote(answer, format)].filter((note) => note !== null);
};

/** A truncated answer lacks rows, so its totals are of the rows shown. */
const totalName = (text: Text, isCut: boolean): string => (isCut ? text('Total of the rows shown') : text('Total'));

const groupName = (text: Text, isCut: boolean, name: string): string =>
  isCut ? text('{name} total of the rows shown', { name }) : text('{name} total', { name });

/** Dates and numbers ascending, names in the order of the answer. */
const inOrder = (
  heads: ReadonlyMap<string, unknown>,
  rows: readonly Row[],
  across: readonly AnswerColumn[],
): readonly string[] => {
  const keys = [...heads.keys()];
  const isOrdered = across.length > 0 && across.every(({ dataType }) => dataType === 'date' || dataType === 'number');
  if (!isOrdered || rows.length === 0) return keys;
  return keys.sort((a, b) => {
    const [left, right] = [JSON.parse(a), JSON.parse(b)] as [
      readonly (string | number | null)[],
      readonly (string | number | null)[],
    ];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : (left[at] ?? '') < (right[at] ?? '') ? -1 : 1;
  });
};

const groupBy = (rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, readonly Row[]> => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key) ?? [];
    group.push(row);
    groups.set(key, group);
  }
  return groups;
};

/** The value of one row, or of several together. Values that do not combine have no total: an average of averages lies. */
const cellText = (
  rows: readonly Row[],
  column: AnswerColumn,
  combine: Combine | undefined,
  chart: GuestChart,
  format: Format,
): string => {
  const { name } = column;
  if (rows.length === 0) return '';
  if (rows.length === 1) return measureText(rows[0], column, chart, format);
  if (combine === undefined) return '';
  return format.measure(
    together(
      rows.map((row) => numberOf(row[name])),
      combine,
    ),
    numbersOf(chart, name),
  );
};

const headsOf = (columns: readonly Column[], levels: number, measures: readonly AnswerColumn[]): Pivot['heads'] => {
  const rows = Array.from({ length: levels }, (_, level) =>
    merged(
      columns.map(({ labels }) => ({ text: labels[level] ?? '', path: JSON.stringify(labels.slice(0, level + 1)) })),
    ),
  );
  const names = columns.map(({ measure }) => ({ text: titleOf(measure), span: 1 }));
  return levels === 0 || measures.length > 1 ? [...rows, names] : rows;
};

const merged = (cells: readonly { readonly text: string; readonly path: string }[]) => {
  const spans: { text: string; path: string; span: number }[] = [];
  for (const { text, path } of cells) {
    const last = spans.at(-1);
    if (last?.path === path) last.span += 1;
    else spans.push({ text, path, span: 1 });
  }
  return spans.map(({ text, span }) => ({ text, span }));
};

type RowSettings = {
  readonly down: readonly AnswerColumn[];
  readonly textOf: (row: Row, columns: readonly AnswerColumn[]) => readonly string[];
  readonly keyOf: (row: Row, columns: readonly AnswerColumn[]) => string;
  readonly cellsOf: (rows: readonly Row[]) => readonly string[];
  readonly text: Text;
  readonly canTotal: boolean;
  /** The column that marks are of. */
  readonly marked: string | undefined;
  readonly isCut: boolean;
};

const rowsOf = (
  all: readonly Row[],
  { down, textOf, keyOf, cellsOf, text, canTotal, isCut, marked }: RowSettings,
): readonly PivotRow[] => {
  const labelsOf = (rows: readonly Row[]) => (rows[0] === undefined ? [] : textOf(rows[0], down));
  const isMarked = marked !== undefined && down[0]?.name === marked;
  const isGrouped = down.length > 1 && canTotal;
  const groups = isGrouped ? [...groupBy(all, (row) => keyOf(row, down.slice(0, 1))).values()] : [all];
  const rows = groups.flatMap((group): readonly PivotRow[] => {
    const inside = [...groupBy(group, (row) => keyOf(row, down)).values()].map(
      (held): PivotRow => ({
        ...{ kind: 'row', labels: labelsOf(held), cells: cellsOf(held) },
        ...(isMarked ? { value: held[0]?.[marked] ?? null } : {}),
      }),
    );
    if (!isGrouped || inside.length < 2) return inside;
    const labels = [groupName(text, isCut, labelsOf(group)[0] ?? ''), ...down.slice(1).map(() => '')];
    return [...inside, { kind: 'group', labels, cells: cellsOf(group) }];
  });
  const hasTotal = canTotal && rows.length > 1;
  const total: PivotRow = {
    kind: 'total',
    labels: [totalName(text, isCut), ...down.slice(1).map(() => '')],
    cells: cellsOf(all),
  };
  return hasTotal ? [...rows, total] : rows;
};
