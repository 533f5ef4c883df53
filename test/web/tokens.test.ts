import { describe, expect, it } from 'vitest';
import { dark, light, type Palette } from '../../src/web/base/tokens.js';

type Rgb = readonly [number, number, number];

/** Linear light of `#rrggbb`, from 0 to 1. */
const linear = (hex: string): Rgb => {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
};

/** WCAG 2 contrast ratio. */
const contrast = (a: string, b: string): number => {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dim, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((bright ?? 0) + 0.05) / ((dim ?? 0) + 0.05);
};

const times = (matrix: readonly Rgb[], [x, y, z]: Rgb): Rgb => {
  const [a, b, c] = matrix.map(([p, q, r]) => Math.max(0, p * x + q * y + r * z));
  return [a ?? 0, b ?? 0, c ?? 0];
};

/** Machado, Oliveira and Fernandes 2009, full severity, on linear light. */
const sights: Readonly<Record<string, readonly Rgb[]>> = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
  'full colour vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};

/** OKLab (Ottosson). */
const oklab = (rgb: Rgb): Rgb => {
  const lms = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  const [l, m, s] = [Math.cbrt(lms[0]), Math.cbrt(lms[1]), Math.cbrt(lms[2])];
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
};

const difference = (a: Rgb, b: Rgb): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

describe.each<[string, Palette]>([
  ['light', light],
  ['dark', dark],
])('the %s palette', (_, palette) => {
  it('keeps text readable on every background (WCAG AA)', () => {
    for (const ground of [palette.surface, palette.raised, palette.subtle]) {
      for (const text of [palette.text, palette.muted, palette.accent, palette.danger]) {
        expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
      }
    }
    expect(contrast(palette.onAccent, palette.accent)).toBeGreaterThanOrEqual(4.5);
  });

  it('keeps every series visible on a card (3:1)', () => {
    for (const colour of palette.series) expect(contrast(colour, palette.surface)).toBeGreaterThanOrEqual(3);
  });

  it.each(Object.keys(sights))('keeps any two series apart under %s (OKLab distance 6)', (sight) => {
    const seen = palette.series.map((colour) => oklab(times(sights[sight] ?? [], linear(colour))));
    for (const [index, colour] of seen.entries()) {
      for (const other of seen.slice(index + 1)) expect(difference(colour, other)).toBeGreaterThan(0.06);
    }
  });
});
