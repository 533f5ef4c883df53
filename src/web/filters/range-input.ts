/**
 * Two inputs for the ends of a range of numbers. Keeps what the guest typed until it is a range, and fires
 * `range` only then: text that is not a value, or an end before the start, is shown as a problem and never sent.
 */
import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Format } from '../base/format.js';
import { baseStyles } from '../base/theme.js';

/** The texts of both inputs; empty for an open end. */
export type RangeTexts = { readonly low: string; readonly high: string };

export class RangeInput extends LitElement {
  static override properties = {
    label: { attribute: false },
    format: { attribute: false },
    low: { attribute: false },
    high: { attribute: false },
    draft: { state: true },
    problem: { state: true },
  };
  declare label: string;
  declare format: Format;
  declare low: string;
  declare high: string;
  declare draft: RangeTexts;
  declare problem: string | undefined;

  static override styles = [
    baseStyles,
    css`
      .pair {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      input {
        min-width: 0;
        min-height: 34px;
        padding: 0 9px;
        border: 1px solid var(--gl-border);
        border-radius: 8px;
        background: var(--gl-surface);
        font-size: 13px;
      }
      input {
        width: 9ch;
      }
      input[aria-invalid='true'] {
        border-color: var(--gl-text);
        border-width: 2px;
      }
      .problem:not(:empty) {
        padding-top: 4px;
        font-size: 12px;
      }
      @container (max-width: 560px) {
        input {
          flex: 1 1 0;
          width: 100%;
        }
      }
    `,
  ];

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('low') && !changed.has('high')) return;
    this.draft = { low: this.low, high: this.high };
    this.problem = undefined;
  }

  override render() {
    const { text } = this.format;
    const name = this.label;
    return html`<div class="pair" @change=${this.#changed}>
        ${this.#input('low', text('{name} at least', { name }))}
        <span class="quiet" aria-hidden="true">–</span>
        ${this.#input('high', text('{name} at most', { name }))}
      </div>
      <div class="problem" id="problem" role=${this.problem === undefined ? nothing : 'alert'}>${this.problem}</div>`;
  }

  #input(end: keyof RangeTexts, label: string) {
    const isBad = this.problem !== undefined;
    return html`<input
      part="control"
      id=${end}
      type="number"
      step="any"
      aria-label=${label}
      aria-invalid=${isBad ? 'true' : 'false'}
      aria-describedby=${isBad ? 'problem' : nothing}
      .value=${live(this.draft[end])}
    />`;
  }

  readonly #changed = (): void => {
    const [low, high] = [...this.renderRoot.querySelectorAll('input')];
    if (low === undefined || high === undefined) return;
    const { text } = this.format;
    // Of text that is no value, the browser gives '' and keeps showing the text.
    this.draft = { low: low.value, high: high.value };
    if (low.validity.badInput || high.validity.badInput) {
      this.problem = text('Enter a number');
      return;
    }
    // An open end is NaN, which is never greater.
    this.problem = low.valueAsNumber > high.valueAsNumber ? text('The minimum is above the maximum') : undefined;
    if (this.problem !== undefined) return;
    this.dispatchEvent(new CustomEvent<RangeTexts>('range', { detail: this.draft }));
  };
}
