import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createSealer,
  createSealingKey,
  prefixOf,
  readKeyRing,
  sealerMarkOf,
  textOfSealed,
} from '../../src/platform/keys/sealing.js';

const key = Buffer.alloc(32, 7);
const sealer = createSealer(key);

describe('a sealed text', () => {
  it('opens as it was, for what it belongs to', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        const sealed = sealer.seal(text, context);
        expect(sealer.open(sealed, context)).toBe(text);
        if (text.length > 3) expect(sealed).not.toContain(text);
      }),
    );
  });

  it('is another each time', () => {
    const all = Array.from({ length: 100 }, () => sealer.seal('same', 'same'));
    expect(new Set(all).size).toBe(100);
  });

  it('does not open for anything else', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (text, own, other) => {
        fc.pre(own !== other);
        expect(() => sealer.open(sealer.seal(text, own), other)).toThrow(/changed, or moved/);
      }),
    );
  });

  it('does not open where any byte of it was changed, or it was cut', () => {
    const [version = '', mark = '', data = ''] = textOfSealed(sealer.seal('the text', 'record')).split('.');
    const bytes = Buffer.from(data, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => sealer.open(`${version}.${mark}.${changed.toString('base64url')}`, 'record')).toThrow(/changed/);
      const cut = bytes.subarray(0, index).toString('base64url');
      expect(() => sealer.open(`${version}.${mark}.${cut}`, 'record')).toThrow(/changed/);
    }
  });

  it('does not open with another key, and says which setting to mend; no key is in what it says', () => {
    const other = createSealingKey();
    const sealed = textOfSealed(createSealer(Buffer.from(other, 'base64')).seal('the text', 'record'));
    const open = () => sealer.open(sealed, 'record');
    expect(open).toThrow(/another key.*GUESTLIST_ENCRYPTION_KEY/);
    // The prefix alone does not make a text valid.
    const [, mark] = textOfSealed(sealer.seal('x', 'record')).split('.');
    const [version, , data] = sealed.split('.');
    expect(() => sealer.open(`${version}.${mark}.${data}`, 'record')).toThrow(/changed/);
    for (const secret of [other, key.toString('base64'), key.toString('hex'), 'the text'])
      expect(open).not.toThrow(secret);
  });

  it.each(['', 'plain text', 'v0.abc.def', 'v2.00000000.AAAA', '..'])('%j is no sealed text', (text) => {
    expect(() => sealer.open(text, 'record')).toThrow();
  });
});

it('a key is 32 bytes in base64 or base64url', () => {
  const made = createSealingKey();
  expect(readKeyRing(made)?.map(({ length }) => length)).toEqual([32]);
  expect(readKeyRing(made.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''))).toEqual(readKeyRing(made));
  expect(createSealingKey()).not.toBe(made);
  for (const text of ['', 'short', made.slice(1), `${made}A`, 'x'.repeat(32), '!'.repeat(44)])
    expect(readKeyRing(text), text).toBeUndefined();
});

describe('a ring of keys', () => {
  const other = Buffer.alloc(32, 8);

  it('seals with the first key, and opens what any of them sealed', () => {
    const ring = createSealer(other, key);
    expect(ring.open(sealer.seal('text', 'record'), 'record')).toBe('text');
    const sealed = ring.seal('text', 'record');
    expect(createSealer(other).open(sealed, 'record')).toBe('text');
    expect(() => sealer.open(sealed, 'record')).toThrow(/another key/);
    expect(textOfSealed(sealed).startsWith(prefixOf(other))).toBe(true);
    expect(prefixOf(other)).toBe(`v1.${sealerMarkOf(sealed)}.`);
  });

  it('is written with commas or spaces, and is none if one of its keys is none', () => {
    const [first, second] = [createSealingKey(), createSealingKey()];
    const bytes = [first, second].map((text) => Buffer.from(text, 'base64'));
    for (const text of [`${first},${second}`, ` ${first} , ${second}\n`, `${first} ${second}`])
      expect(readKeyRing(text)).toEqual(bytes);
    expect(readKeyRing(first)).toEqual(bytes.slice(0, 1));
    for (const text of ['', ',', `${first},x`, `x,${first}`, `${first};${second}`])
      expect(readKeyRing(text), text).toBeUndefined();
  });
});
