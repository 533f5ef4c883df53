/** The policy in force: why it decides as it does for one user, and a change with its faults, tests and effects. */
import { html, nothing, type TemplateResult } from 'lit';
import { type Answer, hasRole } from '../base/api.js';
import { badge, download } from '../base/kit.js';
import { Screen, textOf } from '../base/screen.js';
import type { CodeFault } from '../base/sql-faults.js';
import { explainViewer, type PolicyFacts, readViewer, spokenOf, type Viewer, watchViewer } from '../base/viewer.js';
import type { Code, CodeWord } from '../parts/code.js';
import { explained } from '../parts/explained.js';

type Checked = Answer<'policy-check'>;
type Effect = NonNullable<Checked['plan']>['changed'][number]['effect'];

const checkAfterMs = 400;

class PoliciesScreen extends Screen<PolicyFacts> {
  static override properties = {
    ...Screen.properties,
    explanation: { state: true },
    draft: { state: true },
    checked: { state: true },
    words: { state: true },
  };
  /** What the editor completes. */
  declare words: readonly CodeWord[];
  /** The text that is being changed. Null: nobody changes it. */
  declare draft: string | null;
  /** What the server says about the draft; undefined until it has said it. */
  declare checked: Checked | undefined;
  #checking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why the chosen user sees what it sees; null while nobody is chosen. */
  declare explanation: Awaited<ReturnType<typeof explainViewer>> | string | null | undefined;

  constructor() {
    super();
    this.draft = null;
    this.words = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    watchViewer(() => void this.#explain(), this.gone);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#checking.abort();
    clearTimeout(this.#timer);
  }

  protected override async load(signal: AbortSignal): Promise<PolicyFacts> {
    const facts = await this.api.command('policy-read', {}, signal);
    await this.#explain();
    return facts;
  }

  async #explain(): Promise<void> {
    const viewer = readViewer();
    this.explanation = viewer === null ? null : undefined;
    if (viewer === null) return;
    try {
      this.explanation = await explainViewer(this.api, viewer, this.gone);
    } catch (error) {
      if (!this.gone.aborted) this.explanation = textOf(error);
    }
  }

  protected override content({ files, digest, templates }: PolicyFacts): TemplateResult {
    const viewer = readViewer();
    const reload = (): void =>
      void this.act(async () => {
        const { outcome } = await this.api.command('policy-reload', {});
        if (outcome === 'refused')
          throw new Error(
            'The files have faults, so the policy in force stays. The log names each fault with its place.',
          );
        return outcome === 'changed' ? 'The changed policy is in force.' : 'The files have not changed.';
      });
    return html`<div class="head"><h1>Policy</h1>${badge(digest.slice(0, 8))}
        <span class="gap"></span>
        ${hasRole(this.api.session, 'publisher') ? html`<button type="button" class="quiet" ?disabled=${this.isBusy} @click=${reload}>Read the files again</button>` : nothing}
        <p>It decides who sees which of ${templates.length === 1 ? 'one template' : `${templates.length} templates`}, and of whose rows.</p></div>
      <section class="card"><h2>Why does a user see what it sees?</h2>
        ${
          viewer === null
            ? html`<p class="soft">Choose a user with “View as” at the top.</p>`
            : html`${this.#why(viewer)}`
        }
      </section>
      ${this.draft === null ? this.#files(files) : this.#editor(this.draft, digest)}`;
  }

  #why(viewer: Viewer): TemplateResult {
    const { explanation } = this;
    if (explanation === undefined || explanation === null) return html`<p aria-busy="true">Loading…</p>`;
    if (typeof explanation === 'string') return html`<p class="failure" role="alert">${explanation}</p>`;
    return explained(explanation, spokenOf(viewer));
  }

  #files(files: PolicyFacts['files']): TemplateResult {
    const mayChange = hasRole(this.api.session, 'author', 'publisher', 'policyAdmin');
    return html`${files.map(
      ({ file, text }, index) => html`<section class="card">
        <div class="head"><h2>${file}</h2><span class="gap"></span>
          ${mayChange && index === 0 ? html`<button type="button" ?disabled=${this.isBusy} @click=${() => void this.#edit(text)}>Change</button>` : nothing}</div>
        <pre tabindex="0"><code>${numbered(text)}</code></pre>
      </section>`,
    )}`;
  }

  #editor(draft: string, digest: string): TemplateResult {
    const { checked } = this;
    const isGood = checked !== undefined && checked.faults.length === 0;
    const maySave = hasRole(this.api.session, 'policyAdmin') && this.api.session.person.seesData;
    const typed = ({ detail }: CustomEvent<string>): void => this.#change(detail);
    return html`<section class="card">
        <h2>The changed policy</h2>
        <studio-code label="The changed policy" .text=${draft} .words=${this.words} .faults=${faultsIn(checked)} @text-change=${typed}></studio-code>
        <p class="soft">Control and Space offer what may stand at the cursor.</p>
        <div class="buttons">
          <button type="button" class="quiet" @click=${() => this.#discard()}>Discard the change</button>
          <button type="button" class="quiet" @click=${() => download('policy.yaml', draft, 'text/yaml')}>Download</button>
          ${maySave ? html`<button type="button" ?disabled=${!isGood || this.isBusy} @click=${() => void this.#save(draft, digest)}>Put in force</button>` : nothing}
        </div>
        ${maySave ? nothing : html`<p class="soft">A person with the role policyAdmin puts it in force: send the file to one.</p>`}
      </section>
      <section class="card" aria-live="polite" aria-busy=${checked === undefined ? 'true' : 'false'}>
        <h2>What the change does</h2>
        ${checked === undefined ? html`<p class="soft">Checking…</p>` : this.#effects(checked)}
      </section>`;
  }

  #effects({ faults, tests, plan }: Checked): TemplateResult {
    if (faults.length > 0) {
      return html`<ul class="faults">${faults.map(({ at, message }) => html`<li><button type="button" class="text" @click=${() => this.#goTo(at)}>${at}</button> ${message}</li>`)}</ul>`;
    }
    return html`${tests === null ? nothing : testsOf(tests)} ${plan === null ? nothing : planOf(plan)}`;
  }

  /** Puts the cursor at the place of a fault. */
  #goTo(at: string): void {
    const { line, column } = placeOf(at);
    this.querySelector<Code>('studio-code')?.goTo(line, column);
  }

  /** The editor is a script of its own, which those who only read the policy do not load. */
  async #edit(text: string): Promise<void> {
    await this.act(async () => {
      const [facts, { words }] = await Promise.all([
        this.api.command('policy-read', {}),
        this.api.command('policy-words', {}),
        import('../parts/code.js'),
      ]);
      this.words = [...wordsOf(facts), ...words];
      this.#change(text);
      return null;
    });
  }

  #change(text: string): void {
    this.draft = text;
    this.checked = undefined;
    this.#checking.abort();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(text), checkAfterMs);
  }

  #discard(): void {
    clearTimeout(this.#timer);
    this.#checking.abort();
    this.draft = null;
  }

  async #check(text: string): Promise<void> {
    const checking = new AbortController();
    this.#checking = checking;
    try {
      const checked = await this.api.command('policy-check', { text }, checking.signal);
      if (!checking.signal.aborted) this.checked = checked;
    } catch (error) {
      if (!checking.signal.aborted) this.notice = { text: textOf(error), isBad: true };
    }
  }

  async #save(text: string, digest: string): Promise<void> {
    const isSaved = await this.act(async () => {
      await this.api.command('policy-save', { text, digest });
      return 'The changed policy is in force.';
    });
    if (isSaved) this.#discard();
  }
}

/** The line and column at the end of `policy.yaml:12:7`. */
const placeOf = (at: string): { readonly line: number; readonly column: number } => {
  const [line = 1, column = 1] = at.split(':').slice(-2).map(Number);
  return { line: line || 1, column: column || 1 };
};

const faultsIn = (checked: Checked | undefined): readonly CodeFault[] =>
  (checked?.faults ?? []).map(({ at, message }) => ({ ...placeOf(at), message }));

/** The names of this installation. */
const wordsOf = ({ templates, claims }: PolicyFacts): readonly CodeWord[] => [
  ...templates.map(({ template, name }) => ({ label: template, detail: `template ${name}` })),
  ...Object.entries(claims).map(([name, type]) => ({ label: `user.claims.${name}`, detail: type })),
  { label: 'user.roles', detail: 'list of the roles' },
  { label: 'tenant.id', detail: 'the client id' },
];

const testsOf = ({ count, failed }: NonNullable<Checked['tests']>): TemplateResult =>
  count === 0
    ? html`<p>${badge('no tests', 'warn')} No file beside the policy tests it.</p>`
    : html`<p>${failed.length === 0 ? badge(count === 1 ? 'its test holds' : `its ${count} tests hold`, 'good') : badge(`${failed.length} of ${count} tests fail`, 'bad')}</p>
        <ul>${failed.map(({ name, differences }) => html`<li>“${name}”: ${differences.map(({ field, expected, actual }) => `${field} is ${actual}, expected ${expected}`).join('; ')}</li>`)}</ul>`;

const effectWords: Readonly<Record<Effect, string>> = {
  gain: 'gains',
  loss: 'loses',
  both: 'gains and loses',
  other: 'changes',
};

const planOf = ({ counts, changed, notes }: NonNullable<Checked['plan']>): TemplateResult => html`<p>
    ${counts.users === 0 ? 'Nobody has logged in yet, so there is nobody to compare.' : `Of ${counts.users} users who logged in lately, ${counts.unchanged} see the same.`}
  </p>
  <ul>
    ${changed.map(
      ({ user, tenant, effect, changes }) => html`<li>
        ${badge(effectWords[effect], effect === 'loss' || effect === 'both' ? 'bad' : 'warn')} ${user} of ${tenant ?? 'no tenant'}:
        ${changes.map((change) => `${change.field} ${change.old} → ${change.new}`).join('; ')}
      </li>`,
    )}
    ${notes.map((note) => html`<li>${note}</li>`)}
  </ul>`;

/** With the numbers of the lines, which explanations name. */
const numbered = (text: string): string => {
  const lines = text.replace(/\n$/, '').split('\n');
  const width = String(lines.length).length;
  return lines.map((line, index) => `${String(index + 1).padStart(width)}  ${line}`).join('\n');
};

customElements.define('studio-policies', PoliciesScreen);
