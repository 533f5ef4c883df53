import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SealedFileFault, seal, unseal } from '../../src/platform/keys/sealed-file.js';
import type { KeyRing } from '../../src/platform/keys/sealing.js';

const ring: KeyRing = [randomBytes(32)];
const headerBytes = 57;
const sealedPiece = 65_536 + 16;

async function* stream(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

const collect = async (from: AsyncIterable<Buffer>): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of from) parts.push(part);
  return Buffer.concat(parts);
};

/** Cuts the bytes at these places, as a disk or a network would. */
const partsOf = (bytes: Buffer, sizes: readonly number[]): readonly Buffer[] => {
  const parts: Buffer[] = [];
  let from = 0;
  for (const size of sizes) {
    parts.push(bytes.subarray(from, from + size));
    from += size;
  }
  return [...parts, bytes.subarray(from)];
};

const sealed = (content: Buffer): Promise<Buffer> => collect(seal(stream([content]), ring));

/** What was read before the fault, and the fault. */
const readUntilFault = async (file: Buffer, keys: KeyRing = ring) => {
  const parts: Buffer[] = [];
  try {
    for await (const part of unseal(stream([file]), keys)) parts.push(part);
    return { read: Buffer.concat(parts), fault: null };
  } catch (error) {
    return { read: Buffer.concat(parts), fault: error };
  }
};

const messageOf = async (file: Buffer, keys: KeyRing = ring): Promise<string> => {
  const { fault } = await readUntilFault(file, keys);
  expect(fault).toBeInstanceOf(SealedFileFault);
  return fault instanceof Error ? fault.message : '';
};

const contents = fc
  .tuple(fc.constantFrom(0, 1, 100, 65_535, 65_536, 65_537, 200_000), fc.integer({ min: 1, max: 255 }))
  .map(([size, seed]) => Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * seed + (at >> 8)) & 0xff)));

test('gives back what was sealed, however the bytes arrive', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(contents, sizes, sizes, async (content, given, read) => {
      const file = await collect(seal(stream(partsOf(content, given)), ring));
      const opened = await collect(unseal(stream(partsOf(file, read)), [randomBytes(32), ...ring]));
      expect(opened.equals(content)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('refuses a file in which any bit was changed, and gives back nothing that was not written', async () => {
  const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  await fc.assert(
    fc.asyncProperty(contents, place, fc.integer({ min: 0, max: 7 }), async (content, at, bit) => {
      const file = await sealed(content);
      const index = Math.floor(at * file.length);
      file.writeUInt8(file.readUInt8(index) ^ (1 << bit), index);
      const { read, fault } = await readUntilFault(file);
      expect(fault).toBeInstanceOf(SealedFileFault);
      expect(content.subarray(0, read.length).equals(read)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('refuses a file that was cut anywhere, also between two pieces', async () => {
  await fc.assert(
    fc.asyncProperty(contents, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), async (content, at) => {
      const file = await sealed(content);
      const { read, fault } = await readUntilFault(file.subarray(0, Math.floor(at * file.length)));
      expect(fault).toBeInstanceOf(SealedFileFault);
      expect(content.subarray(0, read.length).equals(read)).toBe(true);
    }),
    { numRuns: 300 },
  );
  const three = await sealed(randomBytes(3 * 65_536));
  for (const pieces of [1, 2])
    expect(await messageOf(three.subarray(0, headerBytes + pieces * sealedPiece))).toMatch(
      new RegExp(`^The file is cut off after ${(pieces - 1) * 65_536} bytes of its content: its end is missing`),
    );
});

test('refuses pieces that were exchanged, repeated, removed or appended', async () => {
  const file = await sealed(randomBytes(3 * 65_536));
  const piece = (index: number): Buffer =>
    file.subarray(headerBytes + index * sealedPiece, headerBytes + (index + 1) * sealedPiece);
  const header = file.subarray(0, headerBytes);
  const of = (...order: readonly number[]): Buffer => Buffer.concat([header, ...order.map(piece)]);
  expect((await readUntilFault(of(0, 1, 2))).fault).toBeNull();
  for (const order of [[1, 0, 2], [0, 0, 1, 2], [0, 2], [2], [0, 1, 2, 2]])
    expect(await messageOf(of(...order))).toMatch(/changed|appended/);
  expect(await messageOf(Buffer.concat([file, Buffer.of(0)]))).toMatch(/appended/);
});

test('refuses pieces of another file with the same key', async () => {
  const [one, other] = [await sealed(Buffer.alloc(10)), await sealed(Buffer.alloc(10))];
  expect(one.equals(other)).toBe(false);
  const mixed = Buffer.concat([one.subarray(0, headerBytes), other.subarray(headerBytes)]);
  expect(await messageOf(mixed)).toMatch(/was changed/);
});

test('says of another key, another format and another version what is wrong, without the content', async () => {
  const file = await sealed(Buffer.from('a secret row'));
  expect(await messageOf(file, [randomBytes(32)])).toMatch(/^The key does not open the file/);
  expect(await messageOf(Buffer.from('PK some other file'))).toMatch(/^This is no file that Guestlist sealed/);
  expect(await messageOf(Buffer.alloc(0))).toMatch(/^This is no file that Guestlist sealed/);
  const newer = Buffer.from(file);
  newer.writeUInt8(2, 8);
  expect(await messageOf(newer)).toMatch(/^The file has version 2 of its format/);
  expect(file.includes('secret')).toBe(false);
});

test('closes the stream that it reads when the reader stops', async () => {
  let isClosed = false;
  async function* parts(): AsyncGenerator<Buffer> {
    try {
      yield await sealed(randomBytes(200_000));
      yield Buffer.alloc(1);
    } finally {
      isClosed = true;
    }
  }
  for await (const part of unseal(parts(), ring)) {
    expect(part.length).toBeGreaterThan(0);
    break;
  }
  expect(isClosed).toBe(true);
});
