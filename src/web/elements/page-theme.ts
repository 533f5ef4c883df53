/** Whether the page around an element is dark: what `theme="auto"` follows. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** Attributes by which pages say their theme. A change of `style` or `class` may change `color-scheme`. */
const named = ['data-theme', 'data-bs-theme', 'data-color-mode', 'data-color-scheme', 'data-mode'];
const attributeFilter = [...named, 'class', 'style'];

export class PageTheme implements ReactiveController {
  readonly #host: ReactiveControllerHost & Element;
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #changed = (): void => this.#host.requestUpdate();
  readonly #ancestors = new MutationObserver(this.#changed);

  constructor(host: ReactiveControllerHost & Element) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#system.addEventListener('change', this.#changed);
    for (const ancestor of ancestorsOf(this.#host)) this.#ancestors.observe(ancestor, { attributeFilter });
  }

  hostDisconnected(): void {
    this.#system.removeEventListener('change', this.#changed);
    this.#ancestors.disconnect();
  }

  /** The nearest `color-scheme` of the page, else the nearest ancestor that names its theme, else the system's. */
  get isDark(): boolean {
    const ancestors = ancestorsOf(this.#host);
    const [parent] = ancestors;
    const schemes = parent === undefined ? [] : getComputedStyle(parent).colorScheme.split(' ');
    if (schemes.includes('dark') !== schemes.includes('light')) return schemes.includes('dark');
    const isNamedDark = ancestors.map(themeOf).find((isDark) => isDark !== undefined);
    return isNamedDark ?? this.#system.matches;
  }
}

/** From the parent up to the root of the page, through shadow roots. */
const ancestorsOf = (element: Element): readonly Element[] => {
  const root = element.getRootNode();
  const parent = element.assignedSlot ?? element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
  return parent === null ? [] : [parent, ...ancestorsOf(parent)];
};

const themeOf = (element: Element): boolean | undefined => {
  const words = [...named.map((name) => element.getAttribute(name) ?? ''), ...element.classList];
  if (words.some((word) => /^(?:theme-)?dark(?:-(?:mode|theme))?$/.test(word))) return true;
  return words.some((word) => /^(?:theme-)?light(?:-(?:mode|theme))?$/.test(word)) ? false : undefined;
};
