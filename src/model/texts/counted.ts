/** A number with its noun, in texts that are English alone: `1 query`, `1,200 queries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
