/**
 * Amounts of several currencies are never combined: a measure of them is grouped by the currency, or filtered to one, or
 * refused. Also says in which currency the columns of an answer are.
 */
import type { Calculation, Measure, VisualDefinition } from '../../model/dashboard/metric.js';
import { demanded, onlyValue } from '../../model/dashboard/only-value.js';
import { namesColumn } from '../../model/datamart/column-rules.js';
import {
  type ColumnRef,
  type Datamart,
  findTable,
  sameColumn,
  type TableRef,
  tableKey,
} from '../../model/datamart/datamart.js';
import { type Currency, currencyOf } from '../../model/datamart/money.js';
import type { Condition, Scalar } from '../../model/filter/filter.js';
import { codeOf } from '../../model/query/numbers.js';
import { columnsIn, expressionKey, isWritten } from '../custom/computed.js';
import type { Custom } from '../custom/read-custom.js';
import { refuseQuery } from '../dialect/refuse.js';
import type { OutputCurrency, Plan } from '../plan/plan.js';
import type { Ask } from './build-plan.js';

type CurrencyQuestion = {
  readonly datamart: Datamart;
  readonly definition: VisualDefinition;
  readonly conditions: readonly Condition[];
};

type Row = Extract<Currency, { kind: 'row' }>;

/** The one value of the currency column that the conditions leave. Of a column that the token hides, the token's alone count. */
const pinnedTo = ({ conditions, definition }: CurrencyQuestion, { ref, isShown }: Row): Scalar | undefined =>
  [...conditions, ...demanded(definition.where)]
    .filter(({ column, isOfToken }) => sameColumn(column, ref) && (isShown || isOfToken === true))
    .map(onlyValue)
    .find((value) => value !== undefined);

/** A custom column without a currency of its own has those of the columns that it is computed from. */
const ofColumn = (datamart: Datamart, { columns }: Pick<Custom, 'columns'>, ref: ColumnRef): readonly Currency[] => {
  const own = currencyOf(datamart, ref);
  if (own !== undefined) return [own];
  const { reads = [] } = columns.get(tableKey(ref))?.find(({ columnName }) => columnName === ref.columnName) ?? {};
  return reads.flatMap((columnName) => currencyOf(datamart, { ...ref, columnName }) ?? []);
};

const ofMeasure = (datamart: Datamart, custom: Custom, measure: Measure): readonly Currency[] => {
  const { column, aggregate, indicator } = measure;
  if (isWritten(measure)) {
    const own = column === undefined ? undefined : currencyOf(datamart, column);
    const named = columnsIn(custom.expressions.get(expressionKey(measure)) ?? []);
    return own === undefined ? named.flatMap((ref) => ofColumn(datamart, custom, ref)) : [own];
  }
  const isCounted = aggregate === 'COUNT' || aggregate === 'COUNT_DISTINCT' || indicator !== undefined;
  return column === undefined || isCounted ? [] : ofColumn(datamart, custom, column);
};

/** The dimensions whose groups stay apart: others combine values of the last one, and rank them over all of the first. */
const apartBy = ({ dimensions, others, sort }: VisualDefinition, measure: string): VisualDefinition['dimensions'] => {
  if (others !== true) return dimensions;
  return sort.some(({ name }) => name === measure) ? [] : dimensions.slice(0, -1);
};

/** The dimension that has one group for each currency. */
const groupOf = (definition: VisualDefinition, measure: string, { ref }: Row): string | undefined =>
  apartBy(definition, measure).find(
    ({ column, grain, bucketWidth, bucketCount }) =>
      sameColumn(column, ref) && grain === undefined && bucketWidth === undefined && bucketCount === undefined,
  )?.name;

const outputOf = (question: CurrencyQuestion, measure: string, currency: Currency): OutputCurrency | 'unnamed' => {
  if (currency.kind === 'code') return { code: currency.code };
  if (currency.kind === 'tenant') return { tenant: currency.ref };
  const pinned = pinnedTo(question, currency);
  if (pinned !== undefined) {
    const code = currency.isShown ? codeOf(pinned) : undefined;
    return code === undefined ? 'unnamed' : { code };
  }
  if (!currency.isShown) {
    return refuseQuery(
      `Measure ${measure} combines amounts, and this token may not see in which currency they are. Use another measure, or let the token see the currency or filter by one.`,
      'currencies-mixed',
    );
  }
  const column = groupOf(question.definition, measure, currency);
  if (column !== undefined) return { column };
  const { tableName, columnName } = currency.ref;
  return refuseQuery(
    question.definition.others === true
      ? `Measure ${measure} would combine amounts of several currencies in the others. Filter ${tableName}.${columnName} to one currency, or leave out "others".`
      : `Measure ${measure} would combine amounts of several currencies. Group the metric by ${tableName}.${columnName}, or filter that column to one currency.`,
    'currencies-mixed',
  );
};

const ofOneMeasure = (question: CurrencyQuestion, custom: Custom, measure: Measure): OutputCurrency | undefined => {
  const { name } = measure;
  const found = ofMeasure(question.datamart, custom, measure).map((currency) => outputOf(question, name, currency));
  const different = new Set(found.map((one) => JSON.stringify(one)));
  if (different.size > 1) {
    refuseQuery(
      `Measure ${name} combines columns whose amounts are of different currencies. Convert them in a custom column that has a currency of its own.`,
      'currencies-mixed',
    );
  }
  const [one] = found;
  return one === 'unnamed' ? undefined : one;
};

/** Refuses a calculation that adds up groups of several currencies. */
const assertApart = (calculation: Calculation, group: string, { dimensions }: VisualDefinition): void => {
  const { kind, name } = calculation;
  if (kind === 'shareOfTotal' && calculation.within?.includes(group) !== true) {
    refuseQuery(
      `Calculation ${name} would add up amounts of several currencies. Name ${group} in "within".`,
      'currencies-mixed',
    );
  }
  if (kind === 'runningTotal' && (calculation.along ?? dimensions[0]?.name) === group) {
    refuseQuery(
      `Calculation ${name} would add up amounts of several currencies. Let it run along another dimension than ${group}.`,
      'currencies-mixed',
    );
  }
};

const isAmount = (calculation: Calculation): boolean =>
  calculation.kind === 'runningTotal' ||
  (calculation.kind === 'previousPeriod' && calculation.result !== 'relativeChange');

type OutputCurrencies = ReadonlyMap<string, OutputCurrency>;

/** The currencies of measures and calculations by name. Throws METRIC_QUERY_ERROR for a measure that would mix some. */
const answerCurrencies = (question: CurrencyQuestion, custom: Custom): OutputCurrencies => {
  const { measures, calculations = [] } = question.definition;
  const found = new Map<string, OutputCurrency>();
  for (const measure of measures) {
    const currency = ofOneMeasure(question, custom, measure);
    if (currency !== undefined) found.set(measure.name, currency);
  }
  for (const calculation of calculations) {
    const currency = found.get(calculation.of);
    if (currency === undefined) continue;
    if ('column' in currency) assertApart(calculation, currency.column, question.definition);
    if (isAmount(calculation)) found.set(calculation.name, currency);
  }
  return found;
};

/** The currencies of the columns of underlying rows, in their order; `names`: those of the columns. */
const rowCurrencies = (question: CurrencyQuestion, custom: Custom, names: readonly string[]): OutputCurrencies => {
  const { datamart, definition } = question;
  const { underlying } = definition;
  return new Map(
    underlying.flatMap((ref, at) => {
      const [currency, ...others] = ofColumn(datamart, custom, ref);
      const name = names[at];
      if (currency === undefined || others.length > 0 || name === undefined) return [];
      const output = rowOutput(question, currency, names);
      return output === undefined ? [] : [[name, output] as const];
    }),
  );
};

const rowOutput = (
  question: CurrencyQuestion,
  currency: Currency,
  names: readonly string[],
): OutputCurrency | undefined => {
  if (currency.kind === 'code') return { code: currency.code };
  if (currency.kind === 'tenant') return { tenant: currency.ref };
  if (!currency.isShown) return undefined;
  const column = names[question.definition.underlying.findIndex((ref) => sameColumn(ref, currency.ref))];
  if (column !== undefined) return { column };
  const code = codeOf(pinnedTo(question, currency));
  return code === undefined ? undefined : { code };
};

/**
 * The plan with the currencies of its output. Throws METRIC_QUERY_ERROR for a measure that would mix some.
 */
export const withCurrencies = (plan: Plan, kind: Ask['kind'], question: CurrencyQuestion, custom: Custom): Plan => {
  if (kind === 'options') return plan;
  const { output } = plan;
  const names = output.columns.map(({ name }) => name);
  const found = kind === 'answer' ? answerCurrencies(question, custom) : rowCurrencies(question, custom, names);
  if (found.size === 0) return plan;
  return {
    ...plan,
    output: { ...output, columns: output.columns.map((column) => ({ ...column, currency: found.get(column.name) })) },
  };
};

/**
 * Refuses a metric in SQL that names amounts of several currencies, but not the column of their currency. Whether SQL
 * that names it keeps the amounts apart, its author decides.
 */
export const assertSqlCurrencies = (datamart: Datamart, text: string, tables: readonly TableRef[]): void => {
  for (const table of tables) {
    for (const { columnName } of findTable(datamart, table)?.columns ?? []) {
      const currency = currencyOf(datamart, { ...table, columnName });
      if (currency?.kind !== 'row' || !namesColumn(text, { columnName })) continue;
      if (currency.isShown && namesColumn(text, currency.ref)) continue;
      const column = currency.isShown ? ` ${currency.ref.columnName}` : '';
      refuseQuery(
        `The SQL names ${table.tableName}.${columnName}, whose amounts are of several currencies, but not the column${column} of their currency. Group by that column, or compare it with one currency.`,
        'currencies-mixed',
      );
    }
  }
};
