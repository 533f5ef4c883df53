/** The colours of the elements without a theme of their own, as data: CSS custom properties, from which charts read them. */

export type Palette = {
  readonly surface: string;
  readonly raised: string;
  readonly subtle: string;
  readonly border: string;
  readonly grid: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly danger: string;
  /** Text of a good, a doubtful and a bad number. Each also has a sign. */
  readonly good: string;
  readonly warning: string;
  readonly bad: string;
  readonly skeleton: string;
  readonly shadow: string;
  /** In the order of use. Neighbours differ for colour-blind readers too. */
  readonly series: readonly string[];
  /** The series or part that combines the rest. Unlike each of the others. */
  readonly other: string;
};

/** The colours and the font that a chart draws with, read from the element that holds the chart. */
export type ChartTheme = {
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly surface: string;
  readonly fontFamily: string;
  /** Whether the reader's system forces its own colours; series then have patterns. */
  readonly isForced?: boolean;
  readonly series: readonly string[];
  readonly other: string;
};

export const light: Palette = {
  surface: '#ffffff',
  raised: '#ffffff',
  subtle: '#f3f5f9',
  border: '#e2e7ef',
  grid: '#edf0f5',
  text: '#141b28',
  muted: '#556075',
  accent: '#2459c9',
  onAccent: '#ffffff',
  danger: '#b3261e',
  good: '#0b6b4f',
  warning: '#7d5300',
  bad: '#b3261e',
  skeleton: '#e9edf4',
  shadow: '0 1px 2px rgb(16 24 40 / 5%), 0 1px 3px rgb(16 24 40 / 4%)',
  series: ['#5793ee', '#bb8946', '#005642', '#a25a6c', '#653688', '#687501', '#0380a7', '#8f2103'],
  other: '#8a93a2',
};

export const dark: Palette = {
  surface: '#151b26',
  raised: '#1b2331',
  subtle: '#1f2836',
  border: '#2a3446',
  grid: '#242d3c',
  text: '#e9eef6',
  muted: '#a4afc1',
  accent: '#8db5ff',
  onAccent: '#0b1220',
  danger: '#ffb3a9',
  good: '#6fdcae',
  warning: '#f2c063',
  bad: '#ffb3a9',
  skeleton: '#232d3d',
  shadow: '0 1px 2px rgb(0 0 0 / 35%)',
  series: ['#6a9fee', '#ad5610', '#b8ebd7', '#ee9fb1', '#8b57aa', '#f5dc73', '#5ed1fe', '#d17c51'],
  other: '#7d8797',
};

/** The CSS custom properties of a palette: name to value. */
export const customProperties = (palette: Palette): Readonly<Record<string, string>> => {
  const { series, ...plain } = palette;
  return Object.fromEntries([
    ...Object.entries(plain).map(([name, value]) => [`--gl-${kebab(name)}`, value]),
    ...series.map((colour, index) => [`--gl-series-${index + 1}`, colour]),
  ]);
};

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
