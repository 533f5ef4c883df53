/** The process: whether its parts work and how to mend them, its numbers, and the configuration in force. */
import { html, type TemplateResult } from 'lit';
import { badge, type Column, list } from '../base/kit.js';
import { Screen } from '../base/screen.js';

type SystemNumber = { readonly name: string; readonly help: string; readonly value: number };
type System = {
  readonly version: string;
  readonly checks: readonly { readonly name: string; readonly isGood: boolean; readonly fix: string | null }[];
  readonly settings: unknown;
  readonly numbers: readonly SystemNumber[];
};

const pollMs = 5_000;

class SystemScreen extends Screen<System> {
  #timer: ReturnType<typeof setTimeout> | undefined;

  protected override async load(signal: AbortSignal): Promise<System> {
    clearTimeout(this.#timer);
    const system = await this.api.system<System>(signal);
    this.#timer = setTimeout(() => void this.reload(), pollMs);
    return system;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override content({ version, checks, settings, numbers }: System): TemplateResult {
    const failed = checks.filter(({ isGood }) => !isGood).length;
    return html`<div class="head"><h1>System</h1>${failed === 0 ? badge('all parts work', 'good') : badge(`${failed} of ${checks.length} parts fail`, 'bad')}
        <p>Version ${version}. What is shown is of this process, and read anew every few seconds.</p></div>
      <section class="card"><h2>Parts</h2>
        <dl>${checks.map(({ name, isGood, fix }) => html`<dt>${name}</dt><dd>${isGood ? badge('works', 'good') : badge('fails', 'bad')} ${fix ?? (isGood ? '' : 'The log says why.')}</dd>`)}</dl>
      </section>
      <section class="card"><h2>Numbers since the start</h2>
        ${list({ name: 'numbers', rows: numbers, columns, query: this.place.query, empty: html`<p>None yet.</p>` })}
      </section>
      <section class="card"><h2>Configuration in force</h2>
        <p class="soft">Without secrets, which come from the environment.</p>
        <pre tabindex="0"><code>${JSON.stringify(settings, null, 2)}</code></pre>
      </section>`;
  }
}

const columns: readonly Column<SystemNumber>[] = [
  { title: 'Number', of: ({ name }) => html`<code>${name}</code>`, text: ({ name }) => name },
  { title: 'Value', of: ({ value }) => value.toLocaleString(undefined, { maximumFractionDigits: 2 }), isNumber: true },
  { title: 'Meaning', of: ({ help }) => help },
];

customElements.define('studio-system', SystemScreen);
