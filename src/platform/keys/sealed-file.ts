/**
 * A file that only the holder of a key can read or change: AES-256-GCM in pieces of 64 KiB. Each piece is authenticated
 * together with the header, its number, and whether it is the last one. So pieces that were changed, exchanged, repeated
 * or cut off are refused, and nothing is returned that was not authenticated.
 *
 * The header is `GLSEALED`, the version (1 byte), a salt (32 bytes) and the check of the key (16 bytes). HKDF-SHA-256
 * makes the file's key and the check of the given key and the salt: no two files have the same key, so the number of a
 * piece is its nonce.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './sealing.js';

const magic = Buffer.from('GLSEALED', 'latin1');
const version = 1;
const saltBytes = 32;
const checkBytes = 16;
const headerBytes = magic.length + 1 + saltBytes + checkBytes;
const pieceBytes = 65_536;
const tagBytes = 16;
const algorithm = 'aes-256-gcm';

/**
 * The file cannot be read. `message` says why, without its content, and what to do.
 *
 * @internal Tests only: they tell it from other errors.
 */
export class SealedFileFault extends Error {
  override readonly name = 'SealedFileFault';
}

const derive = (key: Buffer, salt: Buffer, what: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, `guestlist sealed file ${version} ${what}`, bytes));

type Opened = { readonly key: Buffer; readonly header: Buffer };

const createHeader = (key: Buffer): Opened => {
  const salt = randomBytes(saltBytes);
  const check = derive(key, salt, 'check', checkBytes);
  return {
    key: derive(key, salt, 'content', 32),
    header: Buffer.concat([magic, Buffer.of(version), salt, check]),
  };
};

/** Throws if no key of the ring made the file. */
const readHeader = (header: Buffer, ring: KeyRing): Opened => {
  const given = header[magic.length];
  if (header.length < headerBytes || !header.subarray(0, magic.length).equals(magic))
    throw new SealedFileFault('This is no file that Guestlist sealed, or its beginning is lost.');
  if (given !== version)
    throw new SealedFileFault(`The file has version ${given} of its format: a newer version of Guestlist reads it.`);
  const salt = header.subarray(magic.length + 1, magic.length + 1 + saltBytes);
  const check = header.subarray(-checkBytes);
  const key = ring.find((one) => timingSafeEqual(derive(one, salt, 'check', checkBytes), check));
  if (key === undefined)
    throw new SealedFileFault(
      'The key does not open the file: give the key that it was made with (or the beginning of the file was changed).',
    );
  return { key: derive(key, salt, 'content', 32), header };
};

const nonceOf = (index: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(index), 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
};

const sealPiece = ({ key, header }: Opened, piece: Buffer, index: number, isLast: boolean): Buffer => {
  const cipher = createCipheriv(algorithm, key, nonceOf(index, isLast), { authTagLength: tagBytes }).setAAD(header);
  return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
};

/** Undefined: the piece is not what was written at this place. */
const openPiece = ({ key, header }: Opened, piece: Buffer, index: number, isLast: boolean): Buffer | undefined => {
  if (piece.length < tagBytes) return undefined;
  const opening = createDecipheriv(algorithm, key, nonceOf(index, isLast), { authTagLength: tagBytes })
    .setAAD(header)
    .setAuthTag(piece.subarray(-tagBytes));
  try {
    return Buffer.concat([opening.update(piece.subarray(0, -tagBytes)), opening.final()]);
  } catch {
    // OpenSSL says nothing but that the tag does not fit.
    return undefined;
  }
};

/** Cuts a stream into pieces of this size. The last one may be smaller, and only that of an empty stream is empty. */
async function* cut(stream: AsyncIterable<Buffer>, size: number): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    held.push(part);
    bytes += part.length;
    if (bytes <= size) continue;
    const all = Buffer.concat(held);
    let from = 0;
    for (; all.length - from > size; from += size) yield { piece: all.subarray(from, from + size), isLast: false };
    held = [all.subarray(from)];
    bytes = all.length - from;
  }
  yield { piece: Buffer.concat(held), isLast: true };
}

/** Seals a stream with the first key of the ring. */
export async function* seal(stream: AsyncIterable<Buffer>, [first]: KeyRing): AsyncGenerator<Buffer> {
  const opened = createHeader(first);
  yield opened.header;
  let index = 0;
  for await (const { piece, isLast } of cut(stream, pieceBytes)) {
    yield sealPiece(opened, piece, index, isLast);
    index += 1;
  }
}

/** Reads at least this many bytes; fewer if the stream ends. */
const readBytes = async (iterator: AsyncIterator<Buffer>, bytes: number): Promise<Buffer> => {
  let read: Buffer = Buffer.alloc(0);
  while (read.length < bytes) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    read = Buffer.concat([read, value]);
  }
  return read;
};

async function* follow(first: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
}

const faultOf = (opened: Opened, piece: Buffer, index: number, isLast: boolean): SealedFileFault => {
  const at = `after ${index * pieceBytes} bytes of its content`;
  if (isLast && openPiece(opened, piece, index, false) !== undefined)
    return new SealedFileFault(`The file is cut off ${at}: its end is missing. Take a complete copy of it.`);
  if (!isLast && openPiece(opened, piece, index, true) !== undefined)
    return new SealedFileFault(`Something was appended to the file ${at}. Take an unchanged copy of it.`);
  return new SealedFileFault(
    `The file was changed${isLast ? ' or cut off' : ''} ${at}: it is not what was written. Take another copy of it.`,
  );
};

/**
 * Opens what `seal` made with any key of the ring. Yields only bytes that were authenticated. Throws SealedFileFault: what
 * came before is then authentic and not whole.
 */
export async function* unseal(stream: AsyncIterable<Buffer>, ring: KeyRing): AsyncGenerator<Buffer> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    const begin = await readBytes(iterator, headerBytes);
    const opened = readHeader(begin.subarray(0, headerBytes), ring);
    let index = 0;
    const rest = follow(begin.subarray(headerBytes), iterator);
    for await (const { piece, isLast } of cut(rest, pieceBytes + tagBytes)) {
      const plain = openPiece(opened, piece, index, isLast);
      if (plain === undefined) throw faultOf(opened, piece, index, isLast);
      if (plain.length > 0) yield plain;
      index += 1;
    }
  } finally {
    await iterator.return?.();
  }
}
