/** The breadcrumb trail above a chart that the guest has drilled into: one button for each step back, and one for the start. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { Text } from '../../model/texts/text.js';
import type { DrillStep } from '../base/client.js';
import { baseStyles } from '../base/theme.js';

/** `title` and `label`: the column and the value as the reader sees them. */
export type TakenStep = DrillStep & { readonly title: string; readonly label: string };

/** Fires `go` with how many of the steps stay; 0 leaves the drill. */
export class DrillTrail extends LitElement {
  static override properties = { name: { attribute: false }, steps: { attribute: false }, text: { attribute: false } };
  /** The name of the metric. */
  declare name: string;
  declare steps: readonly TakenStep[];
  declare text: Text;

  static override styles = [
    baseStyles,
    css`
      nav {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
        margin: -4px 0 8px;
        font-size: 12.5px;
        color: var(--gl-muted);
      }
      button {
        padding: 0;
        border: 0;
        background: none;
        color: var(--gl-accent);
      }
      button:hover {
        text-decoration: underline;
      }
    `,
  ];

  override render(): TemplateResult {
    const { text, steps } = this;
    return html`<nav aria-label=${text('Where you are in {name}', { name: this.name })}>
      <button type="button" @click=${() => this.#go(0)}>${text('All')}</button>
      ${steps.map(({ label }, at) =>
        at === steps.length - 1
          ? html`<span aria-hidden="true">›</span><span aria-current="true">${label}</span>`
          : html`<span aria-hidden="true">›</span><button type="button" @click=${() => this.#go(at + 1)}>${label}</button>`,
      )}
    </nav>`;
  }

  #go(detail: number): void {
    this.dispatchEvent(new CustomEvent<number>('go', { detail }));
  }
}
