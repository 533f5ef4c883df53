/** The options of a select. */
import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';

export type Choice = readonly [value: string, label: string];

/** What is drawn is chosen, also after the reader chose another one that was not taken. */
export const options = (choices: readonly Choice[], chosen: string | undefined): readonly TemplateResult[] =>
  choices.map(([value, label]) => html`<option value=${value} .selected=${live(value === chosen)}>${label}</option>`);
