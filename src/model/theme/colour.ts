/** Colours as numbers: linear light, contrast by WCAG 2, and distance in OKLab. Pure. */
export type Rgb = readonly [number, number, number];

/** Linear light of `#rgb` or `#rrggbb`, from 0 to 1. Transparency is left out. */
export const linear = (hex: string): Rgb => {
  const full = hex.length < 6 ? hex.replaceAll(/[^#]/g, '$&$&') : hex;
  const channel = (at: number) => {
    const value = Number.parseInt(full.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
};

/** WCAG 2 contrast ratio. */
export const contrast = (a: string, b: string): number => {
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

/** OKLab (Ottosson), of linear light. */
export const oklab = (rgb: Rgb): Rgb => {
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

/** The distance of two colours. In OKLab, 1 is that of black and white. */
export const difference = (a: Rgb, b: Rgb): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
