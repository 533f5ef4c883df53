/** A theme in the Design Tokens format from four choices. Texts in the colour of the brand stay readable. */
import { contrast } from '../../model/theme/colour.js';
import { dark, light } from '../../model/theme/palette.js';

export type Choices = {
  /** `#rrggbb`. */
  readonly brand: string;
  readonly radiusInPx: number;
  /** Names of fonts; the empty text: the elements' own. */
  readonly font: string;
  readonly density: keyof typeof densities;
};

/** The gap between cards and the height of a row, in pixels. Undefined: the elements' own. */
const densities = {
  compact: { gap: 8, row: 72 },
  usual: undefined,
  airy: { gap: 24, row: 108 },
} as const;

type Token = { readonly $type: string; readonly $value: unknown };
const colour = (value: string): Token => ({ $type: 'color', $value: value });
const pixels = (value: number): Token => ({ $type: 'dimension', $value: { value, unit: 'px' } });

const channels = (hex: string): readonly number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** `share`: 0 is `from`, 1 is `to`. */
const mixed = (from: string, to: string, share: number): string => {
  const target = channels(to);
  const parts = channels(from).map((part, at) => Math.round(part + ((target[at] ?? 0) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
};

const steps = Array.from({ length: 21 }, (_, step) => step / 20);

/** The colour, or the nearest one towards `end` that has at least this contrast with the ground. */
const visible = (brand: string, { surface }: { readonly surface: string }, end: string, least: number): string =>
  steps.map((share) => mixed(brand, end, share)).find((each) => contrast(each, surface) >= least) ?? end;

const leastOfText = 4.5;
const leastOfShapes = 3;

const coloursOf = (brand: string, palette: typeof light, end: string) => {
  const named = (value: string): Token => colour(value === brand ? '{brand.colour}' : value);
  const accent = visible(brand, palette, end, leastOfText);
  const onAccent = ['#ffffff', dark.onAccent].find((each) => contrast(each, accent) >= leastOfText) ?? '#000000';
  const series = visible(brand, palette, end, leastOfShapes);
  return { accent: named(accent), 'on-accent': colour(onAccent), series: { 1: named(series) } };
};

/** What the attribute `theme` and a file of themes take. */
export const themeOf = ({ brand, radiusInPx, font, density }: Choices) => {
  const sizes = densities[density];
  const fonts = font.split(',').map((name) => name.trim());
  return {
    brand: { colour: colour(brand) },
    color: coloursOf(brand, light, '#000000'),
    ...(font === '' ? {} : { font: { family: { $type: 'fontFamily', $value: fonts } } }),
    radius: pixels(radiusInPx),
    ...(sizes === undefined ? {} : { gap: pixels(sizes.gap), 'row-height': pixels(sizes.row) }),
    dark: { color: coloursOf(brand, dark, '#ffffff') },
  };
};

const inline = (value: unknown): string => JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');

/** The file, with a line for each token. */
export const textOf = (value: unknown, indent = ''): string => {
  const isGroup = typeof value === 'object' && value !== null && !('$value' in value);
  if (!isGroup) return inline(value);
  const lines = Object.entries(value).map(([name, each]) => `${indent}  "${name}": ${textOf(each, `${indent}  `)}`);
  return `{\n${lines.join(',\n')}\n${indent}}`;
};
