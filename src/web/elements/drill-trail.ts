/** The breadcrumb trail above a chart that the guest has drilled into: one button for each step back, and one for the start. */
import { html, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';
import type { DrillStep } from '../base/client.js';

/** `title` and `label`: the column and the value as the reader sees them. */
export type TakenStep = DrillStep & { readonly title: string; readonly label: string };

/** `goTo(n)` keeps the first n steps of the drill; `goTo(0)` leaves the drill. */
export const drillTrail = (
  metricName: string,
  steps: readonly TakenStep[],
  goTo: (length: number) => void,
  text: Text,
): TemplateResult => html`<nav class="trail" aria-label=${text('Where you are in {name}', { name: metricName })}>
  <button type="button" @click=${() => goTo(0)}>${text('All')}</button>
  ${steps.map(({ label }, index) =>
    index === steps.length - 1
      ? html`<span aria-hidden="true">›</span><span aria-current="true">${label}</span>`
      : html`<span aria-hidden="true">›</span><button type="button" @click=${() => goTo(index + 1)}>${label}</button>`,
  )}
</nav>`;
