/** Styles that all elements share. A host page changes them by setting `--gl-…` properties on the outer element. */
import { css, unsafeCSS } from 'lit';
import { type ChartTheme, customProperties, dark, light, type Palette } from '../../model/theme/palette.js';

const declarations = (palette: Palette): string =>
  Object.entries(customProperties(palette))
    .map(([name, value]) => `${name}: ${value};`)
    .join(' ');

/** For the outer elements: the design tokens of each theme. `unsafeCSS` takes only constants of this package. */
export const themeStyles = css`
  :host {
    ${unsafeCSS(declarations(light))}
    --gl-font: Inter, 'Inter Fallback', 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif;
    --gl-radius: 12px;
    --gl-gap: 16px;
    --gl-row-height: 90px;
  }
  :host(:state(dark)) {
    ${unsafeCSS(declarations(dark))}
  }
  /* Nothing of the page's text is inherited, even if the page styles every element. The page may still hide the element. */
  .root {
    all: initial;
    visibility: inherit;
    pointer-events: inherit;
    print-color-adjust: inherit;
    color-scheme: light;
  }
  :host(:state(dark)) .root {
    color-scheme: dark;
  }
`;

/** For every element: fonts, buttons, focus, and text for screen readers only (`.sr`). */
export const baseStyles = css`
  :host,
  .root {
    display: block;
    color: var(--gl-text);
    font: 400 14px/1.45 var(--gl-font);
    font-variant-numeric: tabular-nums;
    -webkit-font-smoothing: antialiased;
    text-align: start;
  }
  :host([hidden]) {
    display: none;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  button,
  input,
  select {
    font: inherit;
    color: inherit;
  }
  button {
    cursor: pointer;
  }
  button:disabled {
    cursor: default;
    opacity: 0.5;
  }
  :focus-visible {
    outline: 2px solid var(--gl-accent);
    outline-offset: 2px;
  }
  .button {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-height: 34px;
    padding: 0 12px;
    border: 1px solid var(--gl-border);
    border-radius: 8px;
    background: var(--gl-surface);
    font-weight: 500;
    font-size: 13px;
  }
  .button:hover:not(:disabled) {
    background: var(--gl-subtle);
  }
  .icon {
    display: inline-grid;
    place-items: center;
    width: 30px;
    height: 30px;
    padding: 0;
    border: 0;
    border-radius: 7px;
    background: none;
    color: var(--gl-muted);
  }
  .icon:hover:not(:disabled),
  .icon[aria-pressed='true'] {
    background: var(--gl-subtle);
    color: var(--gl-text);
  }
  .quiet {
    color: var(--gl-muted);
  }
  .sr {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      transition: none !important;
    }
  }
`;

/** The colours of `element` as concrete values for a canvas. `chartColours`, if any, replace the theme's series colours. */
export const readChartTheme = (element: Element, chartColours: readonly string[]): ChartTheme => {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(`--gl-${name}`).trim();
  const series = light.series.map((_, index) => read(`series-${index + 1}`));
  const fontFamily = withoutWaiting(read('font'));
  if (matchMedia('(forced-colors: active)').matches) return forcedTheme(fontFamily);
  return {
    text: read('text'),
    muted: read('muted'),
    grid: read('grid'),
    surface: read('surface'),
    fontFamily,
    series: chartColours.length > 0 ? chartColours : series,
    other: read('other'),
  };
};

/** A canvas keeps the widths of a font's texts. What is drawn while a font loads is measured by the next of the list. */
const withoutWaiting = (names: string): string => {
  const isOf = (name: string) => (face: FontFace) => plainName(face.family) === plainName(name);
  const faces = [...document.fonts];
  const isThere = (name: string): boolean => {
    const own = faces.filter(isOf(name));
    return own.length === 0 || own.some(({ status }) => status === 'loaded');
  };
  return names.split(',').filter(isThere).join();
};

/** A name of a font without blanks around it and quotes. */
export const plainName = (name: string): string => name.replaceAll(/^[\s"']+|[\s"']+$/g, '');

/** A browser does not force colours on a canvas. Black and white, as nearly all forced themes have them. */
const forcedTheme = (fontFamily: string): ChartTheme => {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const text = isDark ? '#ffffff' : '#000000';
  const surface = isDark ? '#000000' : '#ffffff';
  const grid = '#767676';
  return {
    text,
    muted: text,
    grid,
    surface,
    fontFamily,
    series: (isDark ? dark : light).series,
    other: grid,
    isForced: true,
  };
};

/** Reads `chart-colors`: a JSON array or a comma-separated list. Skips values that are not CSS colours. */
export const parseColours = (text: string | null | undefined): readonly string[] => {
  const list = (text ?? '').replaceAll(/^\s*\[|\]\s*$|["']/g, '').split(/,(?![^(]*\))/);
  return list.map((colour) => colour.trim()).filter((colour) => colour !== '' && CSS.supports('color', colour));
};
