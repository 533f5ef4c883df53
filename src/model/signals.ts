/** The signals that a combined one was made of, for as long as it is there itself. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Aborts with the first of these signals. Node holds the signals of `AbortSignal.any` weakly: a timeout that nothing else
 * holds is collected and never comes, so whatever waits for it may wait for ever. A test of the sources
 * (test/conventions.test.ts) refuses `AbortSignal.any` elsewhere.
 */
export const anyOf = (...signals: readonly AbortSignal[]): AbortSignal => {
  const combined = AbortSignal.any([...signals]);
  sources.set(combined, signals);
  return combined;
};
