/** The cover of the paper, below the heading: as of when, in which time zone, and what the filters are. */
import { css, html, LitElement, type TemplateResult } from 'lit';
import type { Format } from '../base/format.js';
import { baseStyles } from '../base/theme.js';

export class PrintCover extends LitElement {
  static override properties = { notes: { attribute: false }, format: { attribute: false } };
  /** The filters in words. */
  declare notes: readonly string[];
  declare format: Format;

  static override styles = [
    baseStyles,
    css`
      :host {
        display: block;
        flex-basis: 100%;
        margin: 4px 0 0;
        padding-bottom: 10px;
        border-bottom: 1px solid var(--gl-border);
        font-size: 12px;
      }
      p {
        margin: 0 0 4px;
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 20px;
        margin: 0;
        padding: 0;
        list-style: none;
      }
    `,
  ];

  override render(): TemplateResult {
    const { language, text } = this.format;
    const written = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' });
    const zone = written.resolvedOptions().timeZone;
    const filters = this.notes.length === 0 ? [text('No filters set')] : this.notes;
    return html`<p>${text('As of {moment} ({zone})', { moment: written.format(new Date()), zone })}</p>
      <ul class="quiet">${filters.map((note) => html`<li>${note}</li>`)}</ul>`;
  }
}
