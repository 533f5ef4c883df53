import { createSealer } from '../../src/platform/sealing.js';

/** Seals with a key that every run makes anew. */
export const testSealer = createSealer(crypto.getRandomValues(Buffer.alloc(32)));
