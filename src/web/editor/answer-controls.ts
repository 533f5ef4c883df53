/**
 * Controls of the editor for the whole answer: its order, its length, what it is compared with, and how its numbers and
 * dates are written. Each sends an action of the core.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { Comparison } from '../../model/dashboard/metric.js';
import { type ColumnDates, datePrecisions, dateStyles } from '../../model/datamart/dates.js';
import { greatestDecimals } from '../../model/query/numbers.js';
import type { Format } from '../base/format.js';
import { type Choice, options } from '../base/options.js';
import { type Catalogue, sameColumn } from './catalogue.js';
import { type DatedColumn, datedColumns, precisionChoices, styleChoices } from './dated.js';
import type { Draft } from './draft.js';
import { type Action, type ChartNumbers, mayCombineOthers } from './edit.js';
import { readableFields } from './readable-fields.js';
import { grainName } from './words.js';

/** What the controls show, and where their actions go. `act` returns whether the action was possible. */
export type Editing = {
  readonly draft: Draft;
  readonly catalogue: Catalogue;
  readonly format: Format;
  readonly act: (action: Action) => boolean;
};

const comparedGrains = ['day', 'week', 'month', 'quarter', 'year'] as const;
type ComparedGrain = (typeof comparedGrains)[number];

const chosenIn = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;

/** The name of a control, above it. The control has it itself for readers of the screen. */
const captioned = (label: string, control: TemplateResult): TemplateResult =>
  html`<span class="captioned"><span class="quiet" aria-hidden="true">${label}</span>${control}</span>`;

const select = (
  label: string,
  choices: readonly Choice[],
  now: string,
  choose: (value: string) => void,
): TemplateResult => {
  const chosen = choices.find(([value]) => value === now)?.[1];
  // A chosen name may be longer than its room.
  const title = chosen === undefined ? label : `${label}: ${chosen}`;
  return captioned(
    label,
    html`<select part="input" aria-label=${label} title=${title} @change=${(event: Event) => choose(chosenIn(event))}>
      ${options(choices, now)}
    </select>`,
  );
};

/** A value that the core refuses goes back to the one before. */
const input = (
  label: string,
  type: 'text' | 'number',
  now: string,
  give: (value: string) => boolean,
  list?: string,
): TemplateResult => {
  const given = (event: Event) => {
    const field = event.target as HTMLInputElement;
    if (!give(field.value)) field.value = now;
  };
  return captioned(
    label,
    html`<input part="input" type=${type} min="1" aria-label=${label} title=${label}
      list=${list ?? nothing} .value=${now} @change=${given} />`,
  );
};

const sorting = (editing: Editing): TemplateResult => {
  const { draft, act } = editing;
  const { text } = editing.format;
  const names = [...draft.dimensions, ...draft.measures, ...draft.calculations].map(({ name }) => name);
  const [now] = draft.sort;
  const direction = now?.direction ?? 'DESC';
  const choices: readonly Choice[] = [
    ['', text('Not sorted')],
    ...names.map((name, at) => [String(at), name] as const),
  ];
  const place = now === undefined ? '' : String(names.indexOf(now.name));
  const choose = (value: string) =>
    act({ kind: 'sort', name: value === '' ? null : (names[Number(value)] ?? null), direction });
  const directions: readonly Choice[] = [
    ['ASC', text('Ascending')],
    ['DESC', text('Descending')],
  ];
  const turn = (value: string) =>
    now !== undefined && act({ kind: 'sort', name: now.name, direction: value === 'ASC' ? 'ASC' : 'DESC' });
  const limit = (value: string) => act({ kind: 'limit', rows: value === '' ? null : Number(value) });
  const rows = draft.limit === null ? '' : String(draft.limit);
  return html`${select(text('Sort by'), choices, place, choose)}
    ${now === undefined ? null : select(text('Direction'), directions, direction, turn)}
    ${input(text('Rows, at most'), 'number', rows, limit)} ${combining(editing)}`;
};

/** Offered where the draft may combine the groups beyond its limit. */
const combining = ({ draft, format: { text }, act }: Editing): TemplateResult | null => {
  if (!mayCombineOthers(draft)) return null;
  const toggle = (event: Event) => act({ kind: 'others', isCombined: (event.target as HTMLInputElement).checked });
  return html`<label><input type="checkbox" .checked=${draft.others === true} @change=${toggle} /> ${text('Combine all others')}</label>`;
};

const comparing = (editing: Editing): TemplateResult => {
  const { draft, catalogue, act } = editing;
  const { text } = editing.format;
  const dates = readableFields(draft, catalogue).filter(({ isDate }) => isDate);
  const now = draft.comparison;
  const place = now === null ? -1 : dates.findIndex(({ column }) => sameColumn(column, now.column));
  const choices: readonly Choice[] = [
    ['-1', text('No comparison')],
    ...dates.map(({ label }, at) => [String(at), label] as const),
  ];
  const choose = (value: string) => {
    const column = dates[Number(value)]?.column;
    const { grain, periods } = now ?? { grain: 'month', periods: 1 };
    act({ kind: 'compare', comparison: column === undefined ? null : { column, grain, periods } });
  };
  return html`${select(text('Compare by date'), choices, String(place), choose)}
    ${now === null ? null : distance(now, editing)}`;
};

const distance = (now: Comparison, { draft, format: { text }, act }: Editing): TemplateResult => {
  const choices = comparedGrains.map((grain) => [grain, grainName(grain, text)] as const);
  const choose = (value: string) => act({ kind: 'compare', comparison: { ...now, grain: value as ComparedGrain } });
  const give = (value: string) => act({ kind: 'compare', comparison: { ...now, periods: Number(value) } });
  const isUnused = draft.dimensions.length > 0;
  return html`${select(text('Period'), choices, now.grain, choose)}
    ${input(text('Periods earlier'), 'number', String(now.periods), give)}
    ${isUnused ? html`<small class="quiet">${text('Shown only without fields to split by')}</small>` : null}`;
};

const exampleNumbers = { number: 1234.567, percent: 0.1234, long: 1_234_567 } as const;
/** Offered first; every other currency follows. */
const usualCurrencies = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'CNY', 'INR', 'CAD', 'AUD', 'SEK', 'PLN', 'TRY'] as const;
const usualUnits = ['s', 'min', 'h', 'd', 'm', 'km', 'mi', 'kg', 't', 'l', 'm²', 'kWh', '°C', 'GB'] as const;

const currencyChoices = (now: string | undefined, { language, text }: Format): readonly Choice[] => {
  const names = new Intl.DisplayNames([language], { type: 'currency' });
  const all = new Set([...usualCurrencies, ...Intl.supportedValuesOf('currency'), ...(now === undefined ? [] : [now])]);
  return [['', text('No currency')], ...[...all].map((code) => [code, `${code} · ${names.of(code) ?? code}`] as const)];
};

const decimalChoices = ({ decimals: _, ...now }: ChartNumbers, { text, measure }: Format): readonly Choice[] => [
  ['', text('Automatic decimals')],
  ...Array.from({ length: greatestDecimals + 1 }, (_, decimals) => {
    const number = now.format === 'percent' ? exampleNumbers.percent : exampleNumbers.number;
    return [String(decimals), measure(number, { ...now, decimals })] as const;
  }),
];

/** Each choice with a number that is written so, and below them one with all that is chosen. */
const writing = ({ draft: { chart }, format: view, act }: Editing): TemplateResult => {
  const { text, measure } = view;
  const { format, unit, currency, notation, decimals } = chart;
  const now: ChartNumbers = { format, unit, currency, notation, decimals };
  const write = (change: Partial<ChartNumbers>): boolean =>
    act({ kind: 'formatNumbers', numbers: { ...now, ...change } });
  const { number, percent, long } = exampleNumbers;
  const formats: readonly Choice[] = [
    ['number', `${text('Number')} · ${measure(number, {})}`],
    ['percent', `${text('Percent')} · ${measure(percent, { format: 'percent' })}`],
  ];
  const notations: readonly Choice[] = [
    ['', text('Automatic length')],
    ['full', `${text('All digits')} · ${measure(long, { notation: 'full' })}`],
    ['compact', `${text('Compact')} · ${measure(long, { notation: 'compact' })}`],
  ];
  const short = (value: string) => write({ notation: value === 'full' || value === 'compact' ? value : undefined });
  const places = (value: string) => write({ decimals: value === '' ? undefined : Number(value) });
  const example = measure(format === 'percent' ? percent : number, now);
  return html`${select(text('Number format'), formats, format ?? 'number', (value) => write({ format: value === 'percent' ? 'percent' : undefined }))}
    ${select(text('Decimals'), decimalChoices(now, view), decimals === undefined ? '' : String(decimals), places)}
    ${select(text('Length of numbers'), notations, notation ?? '', short)}
    ${select(text('Currency'), currencyChoices(currency, view), currency ?? '', (value) => write({ currency: value === '' ? undefined : value }))}
    ${input(text('Unit'), 'text', unit ?? '', (value) => write({ unit: value.trim() === '' ? undefined : value }), 'units')}
    <datalist id="units">${usualUnits.map((one) => html`<option value=${one}></option>`)}</datalist>
    <output class="example">${text('Example: {number}', { number: example })}</output>`;
};

const datesOf = (column: DatedColumn, { draft, format, act }: Editing): TemplateResult => {
  const { name, grain } = column;
  const { text } = format;
  const { style, precision }: ColumnDates = draft.chart.dates?.find((one) => one.name === name) ?? {};
  const write = (change: ColumnDates): boolean =>
    act({ kind: 'formatDates', name, dates: { style, precision, ...change } });
  const known = styleChoices(column, { precision }, format);
  const styled = known.some(([value]) => value === style) ? (style ?? '') : '';
  const precise = precisionChoices({ style }, format);
  const chosen = <Value extends string>(values: readonly Value[], value: string): Value | undefined =>
    values.find((one) => one === value);
  return html`<small class="quiet">${name}</small>
    ${select(text('How dates of {name} are written', { name }), known, styled, (value) => write({ style: chosen(dateStyles, value) }))}
    ${grain === undefined ? select(text('How precise dates of {name} are', { name }), precise, precision ?? '', (value) => write({ precision: chosen(datePrecisions, value) })) : null}`;
};

const shelf = (label: string, controls: TemplateResult): TemplateResult =>
  html`<section class="shelf settings" part="shelf" aria-label=${label}><h3>${label}</h3><div>${controls}</div></section>`;

/** The order of the answer, and what it is compared with. */
export const answerShelves = (editing: Editing): TemplateResult => {
  const { text } = editing.format;
  return html`${shelf(text('Order'), sorting(editing))} ${shelf(text('Comparison'), comparing(editing))}`;
};

/** How numbers and dates are written. */
export const formatShelves = (editing: Editing): TemplateResult => {
  const { text } = editing.format;
  const dated = datedColumns(editing.draft, editing.catalogue);
  return html`${shelf(text('Numbers'), writing(editing))}
    ${dated.length === 0 ? null : shelf(text('Dates'), html`${dated.map((column) => datesOf(column, editing))}`)}`;
};
