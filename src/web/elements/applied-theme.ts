/** The theme of an element: its own, else the one that the service chose, over the usual colours. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { GuestTheme } from '../../model/guest/view.js';
import type { Properties, Theme } from '../../model/theme/design-tokens.js';
import { loadPart } from '../base/load-part.js';

const isOwn = (text: string | null): text is string => text?.trimStart().startsWith('{') === true;

/** A value from the service that could end its rule is left out. */
const declarations = (properties: Properties = {}): string =>
  Object.entries(properties)
    .filter(([name, value]) => /^--gl-[a-z0-9-]+$/.test(name) && !/[;{}<>]/.test(value))
    .map(([name, value]) => `${name}: ${value};`)
    .join(' ');

export class AppliedTheme implements ReactiveController {
  readonly #host: ReactiveControllerHost & Element;
  readonly #sheet = new CSSStyleSheet();
  #served: GuestTheme | null = null;
  #own: { readonly text: string; readonly theme: Theme | undefined } | undefined;
  #rules = '';

  constructor(host: ReactiveControllerHost & Element) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    const root = this.#host.shadowRoot;
    if (root === null || root.adoptedStyleSheets.includes(this.#sheet)) return;
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, this.#sheet];
  }

  /** The theme in the answer of the service. */
  setServed(theme: GuestTheme | null | undefined): void {
    this.#served = theme ?? null;
    this.#write();
  }

  /** `given`: the element's attribute. Returns undefined where the element follows its page. */
  schemeFor(given: string | null): 'light' | 'dark' | undefined {
    if (isOwn(given)) this.#read(given);
    else if (this.#own !== undefined) {
      this.#own = undefined;
      this.#write();
    }
    if (given === 'light' || given === 'dark') return given;
    const { name = '' } = this.#own === undefined ? (this.#served ?? {}) : {};
    return this.#theme?.scheme ?? (name === 'light' || name === 'dark' ? name : undefined);
  }

  /** Changes with the colours. */
  get key(): string {
    return this.#rules;
  }

  get #theme(): Theme | GuestTheme | null {
    return this.#own?.theme ?? this.#served;
  }

  #read(text: string): void {
    if (this.#own?.text === text) return;
    this.#own = { text, theme: undefined };
    loadPart(() => import('./own-theme.js')).then(
      ({ readOwnTheme }) => {
        if (this.#own?.text !== text) return;
        this.#own = { text, theme: readOwnTheme(text) };
        this.#write();
      },
      (error: unknown) => console.error('guestlist: the script of themes did not load', error),
    );
  }

  #addFont(): void {
    loadPart(() => import('./own-font.js')).then(
      ({ addOwnFont }) => addOwnFont(),
      (error: unknown) => console.error('guestlist: the script of the font did not load', error),
    );
  }

  #write(): void {
    const { light, dark } = this.#theme ?? {};
    const rules = `:host { ${declarations(light)} } :host(:state(dark)) { ${declarations(dark)} }`;
    if (rules === this.#rules) return;
    this.#rules = rules;
    if (/--gl-font:[^;]*'Inter'/.test(rules)) this.#addFont();
    this.#sheet.replaceSync(rules);
    this.#host.requestUpdate();
  }
}
