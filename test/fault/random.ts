/** Random numbers that are the same for the same seed. */

/** The generator Mulberry32. Each call returns a number from 0 to below 1. */
export const createRandom = (from: number) => {
  let state = from;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
