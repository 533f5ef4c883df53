/** Whether the colours of a theme can be told apart (WCAG 2.2 AA, and OKLab for neighbours in a chart). Pure. */
import { contrast, difference, linear, oklab } from './colour.js';
import type { Properties, Theme } from './design-tokens.js';
import { customProperties, dark, light } from './palette.js';

const leastContrast = 4.5;
/** OKLab distance, from 0 to 1. */
const leastDistance = 0.06;

const textPairs = ['text', 'muted', 'accent', 'danger', 'good', 'warning', 'bad'].map(
  (name) => [name, 'surface'] as const,
);

const warningsIn = (scheme: string, properties: Properties): readonly string[] => {
  const colour = (name: string): string => properties[`--gl-${name}`] ?? '#000000';
  const unreadable = [...textPairs, ['on-accent', 'accent'] as const].flatMap(([name, ground]) => {
    const ratio = contrast(colour(name), colour(ground));
    const said = `${scheme}: ${name} on ${ground} has a contrast of ${ratio.toFixed(1)}, and needs ${leastContrast}`;
    return ratio < leastContrast ? [said] : [];
  });
  const alike = Array.from(
    { length: 7 },
    (_, index) => [`series-${index + 1}`, `series-${index + 2}`] as const,
  ).flatMap(([one, next]) => {
    const isAlike = difference(oklab(linear(colour(one))), oklab(linear(colour(next)))) < leastDistance;
    return isAlike ? [`${scheme}: ${one} and ${next} look alike`] : [];
  });
  return [...unreadable, ...alike];
};

/** What readers cannot read or tell apart, in words. Empty for a good theme. */
export const themeWarnings = (theme: Theme): readonly string[] => [
  ...(theme.scheme === 'dark' ? [] : warningsIn('light', { ...customProperties(light), ...theme.light })),
  ...(theme.scheme === 'light' ? [] : warningsIn('dark', { ...customProperties(dark), ...theme.dark })),
];
