/** The policy's decision for a user: sentences, and what a terminal would print behind "Details". */
import { html, type TemplateResult } from 'lit';
import { type Explanation, policySentences, type Spoken } from '../base/policy-words.js';

export const explained = (
  { explanation, text }: { readonly explanation: Explanation; readonly text: string },
  spoken: Spoken,
): TemplateResult => {
  const [outcome, ...reasons] = policySentences(explanation, spoken);
  return html`<p><strong>${outcome}</strong></p>
    <ul class="reasons">${reasons.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    <details><summary>Details</summary><pre class="wrapped" tabindex="0"><code>${text}</code></pre></details>`;
};
