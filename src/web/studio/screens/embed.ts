/** The lines that a host's page needs, with this installation's own origin. */
import { html, type TemplateResult } from 'lit';
import '../parts/embed-code.js';
import '../parts/session-test.js';
import type { EmbedFacts } from '../base/embed-lines.js';
import { link } from '../base/kit.js';
import { addressOf } from '../base/routes.js';
import { Screen } from '../base/screen.js';
import type { PolicyFacts } from '../base/viewer.js';

type Data = {
  readonly templates: PolicyFacts['templates'];
  readonly facts: EmbedFacts;
};

class EmbedScreen extends Screen<Data> {
  protected override async load(signal: AbortSignal): Promise<Data> {
    const [{ templates }, facts] = await Promise.all([
      this.api.command('policy-read', {}, signal),
      this.api.command('embed-facts', {}, signal),
    ]);
    return { templates, facts };
  }

  protected override content({ templates, facts }: Data): TemplateResult {
    if (templates.length === 0)
      return html`<div class="empty"><h2>Nothing to embed yet</h2><p>Name a dashboard under templates in the policy.</p>${link(addressOf('policy'), 'Open the policy')}</div>`;
    return html`<div class="head"><h1>Embed</h1><p>Put these lines into a page of your product. The page’s user must be logged in to your product.</p></div>
      <studio-embed-code .templates=${templates} .facts=${facts} .query=${this.place.query}></studio-embed-code>
      <studio-session-test></studio-session-test>`;
  }
}

customElements.define('studio-embed', EmbedScreen);
