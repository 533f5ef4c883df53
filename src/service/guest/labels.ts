/**
 * Adds labels in the reader's language to what a guest reads. Labels are made of the guest's own rows, after these were
 * read in its scope: an answer has a label only for a value that stands in its rows, and never a dashboard's dictionary.
 */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { type LabelOf, type Translation, translateBy, untranslated } from '../../model/dashboard/translations.js';
import type { AnswerColumn, Cell, MetricAnswer, MetricStream } from '../../model/query/engine.js';
import type { ContentStore } from '../store/content.js';

/** The translations of a dashboard, else those of the template that it is a copy of. */
export const translationOf = async (
  content: ContentStore,
  { metadata, templateId }: Dashboard,
  language: string | undefined,
): Promise<Translation> => {
  if (language === undefined) return untranslated;
  const template = templateId === null ? undefined : await content.dashboards.findById(templateId);
  return translateBy([metadata, template?.metadata], language);
};

/**
 * Returns the labels of these texts, by the stored text. Two texts never look the same: a label that another one shows
 * is left out.
 */
export const labelsOf = (
  { valuesOf }: Translation,
  name: string,
  stored: Iterable<Cell | undefined>,
): ReadonlyMap<string, string> => {
  const values = valuesOf(name);
  const labels = new Map<string, string>();
  if (values === undefined) return labels;
  const texts = [...new Set(stored)].filter((value) => typeof value === 'string');
  for (const text of texts) {
    const label = values.labelOf(text);
    if (label !== undefined && label !== text) labels.set(text, label);
  }
  for (let isDistinct = false; !isDistinct; ) {
    const shown = new Map<string, number>();
    for (const text of texts) shown.set(labels.get(text) ?? text, (shown.get(labels.get(text) ?? text) ?? 0) + 1);
    const doubled = [...labels].filter(([, label]) => (shown.get(label) ?? 0) > 1);
    for (const [text] of doubled) labels.delete(text);
    isDistinct = doubled.length === 0;
  }
  return labels;
};

const labelColumn = (column: AnswerColumn, rows: MetricAnswer['rows'], translation: Translation): AnswerColumn => {
  const { name, dataType, numbers } = column;
  const label = translation.name(name);
  const stored = dataType === 'string' ? rows.map((row) => row[name]) : [];
  const labels = labelsOf(translation, name, stored);
  return {
    ...column,
    ...(label === name ? {} : { label }),
    ...(numbers?.unit === undefined ? {} : { numbers: { ...numbers, unit: translation.name(numbers.unit) } }),
    ...(labels.size === 0 ? {} : { valueLabels: Object.fromEntries(labels) }),
  };
};

/** Returns the answer with labels of its columns, and of the texts in its rows. Rows and their order stay. */
export const labelAnswer = (answer: MetricAnswer, translation: Translation): MetricAnswer =>
  translation === untranslated
    ? answer
    : { ...answer, columns: answer.columns.map((column) => labelColumn(column, answer.rows, translation)) };

/**
 * Returns the batches with labels in place of the texts in their rows: for files, of which nothing comes back as a
 * filter. `others`: the column whose other values a row may combine, and what that row has there.
 */
export const labelBatches = (
  { columns, batches, isOther }: MetricStream,
  { valuesOf }: Translation,
  others?: { readonly name: string; readonly label: string },
): MetricStream['batches'] => {
  const labels = columns.map(({ name, dataType }) => (dataType === 'string' ? valuesOf(name)?.labelOf : undefined));
  const labelled = labels.every((labelOf) => labelOf === undefined) ? (rows: Rows) => rows : replacing(labels);
  const at = columns.findIndex(({ name }) => name === others?.name);
  const combined = (rows: Rows): Rows =>
    others === undefined || !rows.some(isOther)
      ? labelled(rows)
      : labelled(rows).map((row, index) => (isOther(rows[index] ?? []) ? row.with(at, others.label) : row));
  return mapped(batches, combined);
};

type Rows = readonly (readonly Cell[])[];

const replacing = (labels: readonly (LabelOf | undefined)[]) => {
  const shown = (cell: Cell, at: number): Cell => (typeof cell === 'string' ? (labels[at]?.(cell) ?? cell) : cell);
  return (rows: Rows): Rows => rows.map((row) => row.map(shown));
};

async function* mapped(batches: MetricStream['batches'], map: (rows: Rows) => Rows): AsyncGenerator<Rows> {
  for await (const rows of batches) yield map(rows);
}
