/** Tries a session of the host: asks for an embed token with it, as the host's page would, and says what comes back. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { badge } from '../base/kit.js';
import { textOf } from '../base/screen.js';

type Outcome =
  | { readonly embeds: readonly { readonly id: string; readonly name: string }[]; readonly expiresAt: string }
  | { readonly code: string; readonly message: string };

export class SessionTest extends LitElement {
  static override properties = { outcome: { state: true }, isBusy: { state: true } };
  declare outcome: Outcome | undefined;
  declare isBusy: boolean;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`<section class="card"><h2>Try a session</h2>
      <form class="form" @submit=${this.#try}>
        <label>A session token of your product <span class="hint">that of a logged-in user; it is sent to this server alone, and not kept</span>
          <textarea name="session" rows="3" required spellcheck="false" autocomplete="off"></textarea>
        </label>
        <div class="buttons"><button ?disabled=${this.isBusy === true}>Ask for an embed token</button></div>
      </form>
      <div class="found" role="status">${this.outcome === undefined ? nothing : said(this.outcome)}</div>
    </section>`;
  }

  readonly #try = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const session = String(new FormData(event.target).get('session') ?? '').trim();
    this.isBusy = true;
    this.outcome = await ask(session.replace(/^Bearer /i, ''));
    this.isBusy = false;
  };
}

const ask = async (session: string): Promise<Outcome> => {
  try {
    const response = await fetch('/embed-token', {
      method: 'POST',
      // Without the cookies of this browser, which may hold another session of the host.
      credentials: 'omit',
      headers: { authorization: `Bearer ${session}` },
    });
    const answer: { error?: { code: string; message: string } | null } & Exclude<Outcome, { code: string }> =
      await response.json();
    return answer.error == null ? answer : answer.error;
  } catch (error) {
    return { code: 'FAILED', message: textOf(error) };
  }
};

const said = (outcome: Outcome): TemplateResult =>
  'code' in outcome
    ? html`<p>${badge(outcome.code, 'bad')} ${outcome.message}</p>`
    : html`<p>${badge('accepted', 'good')} This user may open:</p>
        <ul>${outcome.embeds.map(({ id, name }) => html`<li>${name} <code>${id}</code></li>`)}</ul>`;

customElements.define('studio-session-test', SessionTest);
