/** How many letters have to be added, removed or replaced to make one word of the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** Longer names are never compared: the work grows with the product of the lengths. */
const greatestLength = 100;

/**
 * Returns the name that was probably meant: the known one with the fewest different letters, ignoring case, at most
 * three of them and fewer than half of the name. Undefined if none is near.
 */
export const nearestName = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > greatestLength) return undefined;
  const most = Math.min(3, Math.floor((name.length - 1) / 2));
  const near = known
    .filter((one) => Math.abs(one.length - name.length) <= most)
    .map((one) => ({ one, far: distance(name.toLowerCase(), one.toLowerCase()), spelt: distance(name, one) }))
    .filter(({ far }) => far <= most)
    .toSorted((left, right) => left.far - right.far || left.spelt - right.spelt);
  return near[0]?.one;
};

/** Did you mean, or which names there are. */
export const hintOf = (name: string, known: readonly string[], what: string): string => {
  const near = nearestName(name, known);
  return near === undefined ? `${what}: ${known.join(', ') || 'none'}` : `did you mean "${near}"?`;
};
