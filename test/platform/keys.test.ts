import { describe, expect, it } from 'vitest';
import { createToken, hashToken } from '../../src/platform/keys/keys.js';

describe('keys', () => {
  it('are random UUIDs of version 4, no two alike', () => {
    const tokens = Array.from({ length: 1000 }, createToken);
    expect(new Set(tokens).size).toBe(1000);
    for (const token of tokens) {
      expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('are hashed with SHA-256 of their UTF-8 bytes', () => {
    // Example values of FIPS 180-4.
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashToken('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(hashToken('é')).toBe(hashToken('\u00e9'));
    expect(hashToken('é')).not.toBe(hashToken('e\u0301'));
  });
});
