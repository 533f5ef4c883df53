import { describe, expect, it } from 'vitest';
import { contrast, difference, linear, oklab, type Rgb } from '../../src/model/theme/colour.js';
import { dark, light, type Palette } from '../../src/model/theme/palette.js';

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
    for (const colour of [...palette.series, palette.other])
      expect(contrast(colour, palette.surface)).toBeGreaterThanOrEqual(3);
  });

  it.each(Object.keys(sights))('keeps any two series and “Other” apart under %s (OKLab distance 8)', (sight) => {
    const seen = [...palette.series, palette.other].map((colour) => oklab(times(sights[sight] ?? [], linear(colour))));
    for (const [index, colour] of seen.entries()) {
      for (const other of seen.slice(index + 1)) expect(difference(colour, other)).toBeGreaterThan(0.08);
    }
  });
});
