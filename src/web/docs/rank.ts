/** How far up a page belongs among results that have the same words: what says how to do a thing comes before lists. */
const weights: readonly (readonly [string, number])[] = [
  ['/docs/how-to/logins/', 1],
  ['/docs/tutorials/', 2],
  ['/docs/how-to/', 2],
  ['/docs/explanation/', 1.2],
  ['/docs/api/', 0.6],
  ['/docs/reference/errors', 0.4],
  ['/docs/reference/logging', 0.5],
  ['/docs/changelog', 0.3],
  ['/docs/decisions/', 0.4],
  ['/docs/results', 0.3],
];

/** Somebody who pastes a code looks for that code. */
const isCode = (asked: string): boolean => /^[A-Z]+(?:_[A-Z]+)+$/.test(asked);

/** The factor of a result's score, by its address and by what was asked. */
export const weightOf = (url: string, asked: string): number =>
  isCode(asked) ? 1 : (weights.find(([start]) => url.startsWith(start))?.[1] ?? 1);
