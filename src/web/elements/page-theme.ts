/** Whether the page around an element is dark: what `theme="auto"` follows. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** Attributes by which pages say their theme. A change of `style` or `class` may change `color-scheme`. */
const named = ['data-theme', 'data-bs-theme', 'data-color-mode', 'data-color-scheme', 'data-mode'];
const attributeFilter = [...named, 'class', 'style'];

export class PageTheme implements ReactiveController {
  readonly #host: ReactiveControllerHost & Element;
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #changed = (): void => this.#host.requestUpdate();
  readonly #faded = ({ target }: Event): void => {
    if (ancestorsOf(this.#host).some((ancestor) => ancestor === target)) this.#changed();
  };
  readonly #ancestors = new MutationObserver(this.#changed);

  constructor(host: ReactiveControllerHost & Element) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#system.addEventListener('change', this.#changed);
    // A ground that fades has its new colour at the end.
    document.addEventListener('transitionend', this.#faded);
    for (const ancestor of ancestorsOf(this.#host)) this.#ancestors.observe(ancestor, { attributeFilter });
  }

  hostDisconnected(): void {
    this.#system.removeEventListener('change', this.#changed);
    document.removeEventListener('transitionend', this.#faded);
    this.#ancestors.disconnect();
  }

  /**
   * The nearest `color-scheme` of the page, else the nearest ancestor that names its theme, else the colour of the ground
   * behind the element. Without one a browser draws white, or what the system wants if the page says that it does both.
   */
  get isDark(): boolean {
    const ancestors = ancestorsOf(this.#host);
    const schemes = schemesOf(ancestors[0]);
    const isDarkScheme = schemes.includes('dark');
    if (isDarkScheme !== schemes.includes('light')) return isDarkScheme;
    const said = (read: (element: Element) => boolean | undefined) =>
      ancestors.map(read).find((isDark) => isDark !== undefined);
    return said(themeOf) ?? said(groundOf) ?? (isDarkScheme && this.#system.matches);
  }
}

/** What the style says, else the page's `<meta name="color-scheme">`. */
const schemesOf = (element: Element | undefined): readonly string[] => {
  const { colorScheme = 'normal' } = element === undefined ? {} : getComputedStyle(element);
  const inHead = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]')?.content ?? '';
  return (colorScheme === 'normal' ? inHead : colorScheme).split(' ');
};

/** Whether the element's own ground is dark; undefined if what is behind shines through. */
const groundOf = (element: Element): boolean | undefined => {
  const colour = getComputedStyle(element).backgroundColor;
  const [first = 0, green = 0, blue = 0, alpha = 1] = (colour.match(/(?<![\w-])-?[\d.]+(?:e-?\d+)?/g) ?? []).map(
    Number,
  );
  if (alpha < 0.5) return undefined;
  // Of oklch and lab, the first number is the lightness.
  const lightness = /^(?:rgb|color)/.test(colour) ? 0.21 * first + 0.72 * green + 0.07 * blue : first;
  return lightness < (/^rgb/.test(colour) ? 127 : /^l/.test(colour) ? 50 : 0.5);
};

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
