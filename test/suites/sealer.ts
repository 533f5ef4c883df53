import { createSealer } from '../../src/platform/keys/sealing.js';

/** Encrypts with a key that is new for every run. */
export const testSealer = createSealer(crypto.getRandomValues(Buffer.alloc(32)));
