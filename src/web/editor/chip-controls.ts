/**
 * Controls of the editor for one part of the metric: how a field is measured, split and filtered, and the conditions on
 * measures. Each sends an action of the core.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { Aggregate, Measure } from '../../model/dashboard/metric.js';
import type { Predicate } from '../../model/filter/filter.js';
import type { Field } from '../../model/guest/fields.js';
import { closeIcon } from '../base/icons.js';
import { type Choice, options } from '../base/options.js';
import type { Editing } from './answer-controls.js';
import { findField } from './catalogue.js';
import { conditionControl, firstCondition } from './condition-controls.js';
import type { GroupCondition } from './draft.js';
import { type Action, type ConditionShelf, type Grouping, type GroupShelf, refusalOf, type Shelf } from './edit.js';
import { measureType } from './fitting.js';
import { aggregateName, grainName, offeredAggregates, offeredGrains } from './words.js';

const ranges = 10;

export const sqlInput = (
  label: string,
  now: string,
  give: (text: string, input: HTMLInputElement) => void,
): TemplateResult => {
  const given = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const text = input.value.trim();
    if (text === '') input.value = now;
    else give(text, input);
  };
  return html`<input class="sql" part="input" aria-label=${label} title=${label} placeholder=${label}
    maxlength="4000" autocomplete="off" spellcheck="false" .value=${now} @change=${given} />`;
};

/** The database's own SQL, which only Studio may send. */
export const expressionInput = ({ draft, format: { text }, act }: Editing, name: string, at: number): TemplateResult =>
  sqlInput(text('Expression of {name}', { name }), draft.measures[at]?.expression ?? '', (expression) => {
    act({ kind: 'changeExpression', at, expression });
  });

/** The control of a field on a shelf, at this place of it. */
type FieldControl = (editing: Editing, field: Field, name: string, at: number) => TemplateResult | typeof nothing;

const aggregate: FieldControl = ({ draft, format: { text }, act }, field, name, at) => {
  if (field.isMeasure) return nothing;
  const choose = (event: Event) => {
    act({ kind: 'changeMeasure', at, aggregate: (event.target as HTMLSelectElement).value as Aggregate });
  };
  const choices = offeredAggregates(field.aggregates).map((one) => [one, aggregateName(one, text)] as const);
  return html`<select part="input" aria-label=${text('Measure {name}', { name })} @change=${choose}>
    ${options(choices, draft.measures[at]?.aggregate)}
  </select>`;
};

const grouping =
  (shelf: GroupShelf): FieldControl =>
  ({ draft, format: { text }, act }, field, name, at) => {
    const { grain, bucketCount } = draft[shelf][at] ?? {};
    const change = (to: Grouping) => act({ kind: 'changeGroup', shelf, at, grouping: to });
    if (field.type === 'date') {
      const choose = (event: Event) => {
        const value = (event.target as HTMLSelectElement).value;
        const chosen = offeredGrains.find((one) => one === value);
        if (chosen !== undefined) change({ grain: chosen });
      };
      const choices = offeredGrains.map((one) => [one, grainName(one, text)] as const);
      return html`<select part="input" aria-label=${text('Split by {name}', { name })} @change=${choose}>
        ${options(choices, grain)}
      </select>`;
    }
    if (field.type !== 'integer' && field.type !== 'number') return nothing;
    const toggle = (event: Event) => change((event.target as HTMLInputElement).checked ? { bucketCount: ranges } : {});
    return html`<label><input type="checkbox" .checked=${bucketCount !== undefined} @change=${toggle} /> ${text('In ranges')}</label>`;
  };

const filter: FieldControl = ({ draft, format: { text }, act }, { type }, name, at) => {
  const change = (predicate: Predicate) => act({ kind: 'changeFilter', at, predicate });
  return conditionControl({ type, name, predicate: draft.filters[at]?.predicate, change, text });
};

export const fieldControls = {
  measures: aggregate,
  dimensions: grouping('dimensions'),
  filters: filter,
  drillPath: grouping('drillPath'),
};

/** Whether the measure is only computed, where something is calculated of it. */
export const hider = ({ draft, format: { text }, act }: Editing, at: number): TemplateResult | typeof nothing => {
  const measure = draft.measures[at];
  if (!draft.calculations.some(({ of }) => of === measure?.name)) return nothing;
  const toggle = (event: Event) =>
    act({ kind: 'hideMeasure', at, isHidden: (event.target as HTMLInputElement).checked });
  return html`<label><input type="checkbox" .checked=${measure?.isHidden === true} @change=${toggle} /> ${text('Show calculations only')}</label>`;
};

/** Whether this condition or the one before it suffices. */
export const joiner = (
  { draft, format: { text }, act }: Editing,
  shelf: ConditionShelf,
  at: number,
  name: string,
): TemplateResult | typeof nothing => {
  if (at === 0) return nothing;
  const choose = (event: Event) =>
    act({ kind: 'join', shelf, at, isOr: (event.target as HTMLSelectElement).value === 'or' });
  const label = text('How {name} joins the condition before', { name });
  const choices: readonly Choice[] = [
    ['and', text('and')],
    ['or', text('or')],
  ];
  return html`<select class="joiner" part="input" aria-label=${label} title=${label} @change=${choose}>
    ${options(choices, draft[shelf][at]?.isOr === true ? 'or' : 'and')}
  </select>`;
};

export const removal = ({ format, act }: Editing, shelf: Shelf, at: number, name: string): TemplateResult => {
  const remove = format.text('Remove {name}', { name });
  return html`<button class="icon" part="icon-button" type="button" aria-label=${remove} title=${remove}
    @click=${() => act({ kind: 'remove', shelf, at })}>${closeIcon}</button>`;
};

/** A list from which something is added. Those that are not possible are left out. */
export const offer = (
  { draft, catalogue, act }: Editing,
  label: string,
  all: readonly { readonly label: string; readonly action: Action }[],
): TemplateResult => {
  const possible = all.filter(({ action }) => refusalOf(draft, catalogue, action) === null);
  const add = (event: Event) => {
    const list = event.target as HTMLSelectElement;
    const chosen = possible[list.selectedIndex - 1];
    list.selectedIndex = 0;
    if (chosen !== undefined) act(chosen.action);
  };
  return html`<select part="input" aria-label=${label} ?disabled=${possible.length === 0} @change=${add}>
    <option>${label}</option>
    ${possible.map((one) => html`<option>${one.label}</option>`)}
  </select>`;
};

export const nestedNote = ({ format }: Editing): TemplateResult =>
  html`<small class="quiet">${format.text('Conditions that are nested deeper stay')}</small>`;

const typeOf = ({ catalogue }: Editing, measure: Measure): Field['type'] =>
  measureType(measure, measure.column && findField(catalogue, measure.column));

const conditionChip = (editing: Editing, { measure: name, predicate }: GroupCondition, at: number): TemplateResult => {
  const { draft, format, act } = editing;
  const measure = draft.measures.find((one) => one.name === name);
  const change = (next: Predicate) => act({ kind: 'changeGroupFilter', at, predicate: next });
  const type = measure === undefined ? 'other' : typeOf(editing, measure);
  return html`<li class="chip" part="chip">
    ${joiner(editing, 'having', at, name)}<span class="name">${name}</span>
    ${conditionControl({ type, name, predicate, change, text: format.text })} ${removal(editing, 'having', at, name)}
  </li>`;
};

/** Conditions on groups: the values of a measure. */
export const measureConditions = (editing: Editing): TemplateResult | typeof nothing => {
  const { text } = editing.format;
  const { having, measures, kept } = editing.draft;
  if (measures.length === 0) return nothing;
  const offered = measures.map((measure) => {
    const predicate = firstCondition(typeOf(editing, measure));
    return { label: measure.name, action: { kind: 'addGroupFilter', measure: measure.name, predicate } as const };
  });
  return html`<section class="shelf" part="shelf" aria-label=${text('Conditions on measures')}>
    <h3>${text('Conditions on measures')}</h3>
    <ul>${having.map((one, at) => conditionChip(editing, one, at))}</ul>
    ${offer(editing, text('Add a condition'), offered)}
    ${kept.having === undefined ? nothing : nestedNote(editing)}
  </section>`;
};
