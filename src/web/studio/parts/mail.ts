/** A mail before it is sent, as one user would get it. */
import { html, nothing, type TemplateResult } from 'lit';
import { MailPage } from '../../elements/mail-preview.js';
import type { Answer } from '../base/api.js';

/** The page of a mail, in a chunk of its own here: the elements have the same under their name. */
class StudioMailPage extends MailPage {}
customElements.define('studio-mail-page', StudioMailPage);

export type SentMail = Answer<'report-preview'>;

/** `who`: the reader in a sentence. */
export const mailShown = ({ subject, html: page, text, files }: SentMail, who: string): TemplateResult =>
  html`<section class="mail" aria-label="Preview">
    <p class="soft">As ${who} would get it now. Each recipient gets it with the own rows.</p>
    <h3>${subject}</h3>
    <studio-mail-page tabindex="0" role="document" aria-label=${subject} .page=${page}></studio-mail-page>
    ${files.length === 0 ? nothing : html`<p class="soft">Attached: ${files.map(({ name }) => name).join(', ')}</p>`}
    <details><summary>Plain text</summary><pre class="wrapped" tabindex="0">${text}</pre></details>
  </section>`;
