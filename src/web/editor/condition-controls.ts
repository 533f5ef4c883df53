/** Controls of one condition, for the values of a field or of a measure. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Predicate } from '../../model/filter/filter.js';
import {
  greatestCount,
  type RelativePeriod,
  readRelative,
  relativeUnits,
  writeRelative,
} from '../../model/filter/relative.js';
import type { Field } from '../../model/guest/fields.js';
import type { Text } from '../../model/texts/text.js';
import { type Choice, options } from '../base/options.js';
import { periodInWords } from '../filters/filter-values.js';

/** What is conditioned, and where a change goes. */
export type Conditioned = {
  readonly type: Field['type'];
  readonly name: string;
  readonly predicate: Predicate | undefined;
  readonly change: (next: Predicate) => void;
  readonly text: Text;
};

/** What a new condition begins with. */
export const firstCondition = (type: Field['type']): Predicate =>
  type === 'boolean' ? { kind: 'oneOf', values: [true] } : { kind: 'isNotNull' };

/** Nothing where a condition can only say that there is a value. */
export const conditionControl = (of: Conditioned): TemplateResult | typeof nothing => {
  switch (of.type) {
    case 'boolean':
      return yesOrNo(of);
    case 'integer':
    case 'number':
      return range(of);
    case 'date':
      return html`${periods(of)}${of.predicate?.kind === 'relative' ? nothing : range(of)}`;
    case 'json':
    case 'other':
      return nothing;
    default:
      return list(of);
  }
};

const yesOrNo = ({ name, predicate, change, text }: Conditioned): TemplateResult => {
  const isYes = predicate?.kind === 'oneOf' && predicate.values[0] === true;
  const choose = (event: Event) =>
    change({ kind: 'oneOf', values: [(event.target as HTMLSelectElement).value === 'yes'] });
  const choices: readonly Choice[] = [
    ['yes', text('Yes')],
    ['no', text('No')],
  ];
  return html`<select part="input" aria-label=${text('Filter by {name}', { name })} @change=${choose}>
    ${options(choices, isYes ? 'yes' : 'no')}
  </select>`;
};

const list = ({ name, predicate, change, text }: Conditioned): TemplateResult => {
  const values = predicate?.kind === 'oneOf' ? predicate.values.join(', ') : '';
  const given = (event: Event) => {
    const all = (event.target as HTMLInputElement).value.split(',').map((value) => value.trim());
    const known = all.filter((value) => value !== '');
    change(known.length === 0 ? { kind: 'isNotNull' } : { kind: 'oneOf', values: known });
  };
  const hint = text('Values, separated by commas');
  return html`<input part="input" aria-label=${text('Filter by {name}', { name })} title=${hint} placeholder=${hint}
    .value=${values} @change=${given} />`;
};

/** Periods without a number, as the list offers them. */
const calendarPeriods: readonly RelativePeriod[] = [
  ...relativeUnits.flatMap((unit): readonly RelativePeriod[] => [
    { kind: 'this', unit, count: null },
    { kind: 'last', unit, count: null },
    { kind: 'next', unit, count: null },
  ]),
  ...relativeUnits.flatMap((unit): readonly RelativePeriod[] =>
    unit === 'day' ? [] : [{ kind: 'toDate', unit, count: null }],
  ),
];

/** What the list of periods counts before the author says how many. */
const usualCount = 30;

const countedPeriods = (count: number): readonly RelativePeriod[] =>
  (['last', 'next'] as const).flatMap((kind) => relativeUnits.map((unit) => ({ kind, unit, count })));

/** A period that is counted from the day of the question, or none. */
const periods = ({ name, predicate, change, text }: Conditioned): TemplateResult => {
  const chosen = predicate?.kind === 'relative' ? readRelative(predicate.period) : undefined;
  const count = chosen?.count ?? null;
  const choices = [...calendarPeriods, ...countedPeriods(count ?? usualCount)].map((period): Choice => {
    const value = writeRelative(period);
    return [value, periodInWords(value, text) ?? value];
  });
  const choose = (event: Event) => {
    const { value } = event.target as HTMLSelectElement;
    change(value === '' ? { kind: 'isNotNull' } : { kind: 'relative', period: value });
  };
  const set = (event: Event) => {
    const next = Number((event.target as HTMLInputElement).value);
    if (chosen !== undefined) change({ kind: 'relative', period: writeRelative({ ...chosen, count: next }) });
  };
  const counter = html`<input part="input" type="number" min="1" max=${greatestCount} step="1"
    aria-label=${text('{name}, number of periods', { name })} .value=${String(count)} @change=${set} />`;
  return html`${count === null ? nothing : counter}<select part="input" aria-label=${text('{name} period', { name })}
    @change=${choose}>${options([['', text('Dates')], ...choices], chosen === undefined ? '' : writeRelative(chosen))}</select>`;
};

const range = ({ type, name, predicate, change, text }: Conditioned): TemplateResult => {
  const isDate = type === 'date';
  const { from, to } = predicate?.kind === 'range' ? predicate : { from: null, to: null };
  const set = (end: 'from' | 'to') => (event: Event) => {
    const { value } = event.target as HTMLInputElement;
    const next = { from, to, [end]: value === '' ? null : isDate ? value : Number(value) };
    const isOpen = next.from === null && next.to === null;
    change(isOpen ? { kind: 'isNotNull' } : { kind: 'range', ...next, toIsExclusive: false });
  };
  const signs = isDate ? { from: '', to: '' } : { from: '≥', to: '≤' };
  const input = (label: string, end: 'from' | 'to', value: unknown) =>
    html`<input part="input" type=${isDate ? 'date' : 'number'} step="any" aria-label=${label} title=${label}
      placeholder=${signs[end]} .value=${value === null ? '' : String(value)} @change=${set(end)} />`;
  const least = isDate ? text('{name} from', { name }) : text('{name} at least', { name });
  const most = isDate ? text('{name} to', { name }) : text('{name} at most', { name });
  return html`${input(least, 'from', from)}${input(most, 'to', to)}`;
};
