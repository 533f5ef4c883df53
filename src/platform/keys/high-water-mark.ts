/**
 * The high-water mark of the embedded database: a file beside its folder that records the position of the last write. A
 * database that is behind its mark has lost acknowledged writes, because files were truncated, removed or replaced by
 * older ones. The database itself cannot detect this.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { fileFault } from '../files/file-faults.js';
import { isMissing } from '../files/missing.js';
import type { KeyRing } from './sealing.js';

const lsn = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);
const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

const content = z.strictObject({
  version: z.literal(1),
  /** The time when the mark was written, in ISO 8601. */
  at: z.iso.datetime(),
  /** The position of the write-ahead log: PostgreSQL's `pg_lsn`. */
  lsn,
  /** The last entry of the gateway's audit. Null if this process keeps no audit. */
  audit: z.strictObject({ seq: z.number().int().min(0), hash: hex64 }).nullable(),
  /**
   * Whether a start found the database behind this mark and nobody has accepted the loss yet. It is recorded because a
   * start alone already moves the log past the mark.
   */
  isBehind: z.boolean(),
});
const stored = z.strictObject({ mark: content, seal: hex64.nullable() });

export type HighWaterMark = z.output<typeof content>;

/**
 * Seals marks, so that a person who can write only this file cannot lower the mark. The first key seals, and every one is
 * accepted. Null: marks are not sealed.
 */
export type MarkKey = KeyRing | null;

const derive = (sealingKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', sealingKey, '', 'guestlist high-water mark', 32));

/** Derives the mark keys from those that seal the datasource credentials. Neither key opens what the other one sealed. */
export const markKeyOf = ([first, ...others]: KeyRing): KeyRing => [derive(first), ...others.map(derive)];

const sealOf = (mark: HighWaterMark, key: Buffer): string =>
  createHmac('sha256', key).update(JSON.stringify(mark)).digest('hex');

const isSealed = (mark: HighWaterMark, seal: string | null, key: MarkKey): boolean => {
  if (key === null) return true;
  const given = Buffer.from(seal ?? '', 'hex');
  return seal !== null && key.some((one) => timingSafeEqual(given, Buffer.from(sealOf(mark, one), 'hex')));
};

export const markFileOf = (folder: string): string => `${folder}.mark`;

/** The mark cannot be trusted: it is damaged, was changed, or was sealed with another key. */
export class MarkUnreadable extends Error {
  override readonly name = 'MarkUnreadable';
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readText = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw await fileFault(file, 'read', cause);
  }
};

/** Reads the mark. Returns undefined if there is none. Throws MarkUnreadable. */
export const readMark = async (file: string, key: MarkKey): Promise<HighWaterMark | undefined> => {
  const text = await readText(file);
  if (text === undefined) return undefined;
  const { data } = stored.safeParse(parse(text));
  if (data === undefined) throw new MarkUnreadable(`The high-water mark ${file} is damaged`);
  if (isSealed(data.mark, data.seal, key)) return data.mark;
  throw new MarkUnreadable(
    `The high-water mark ${file} was changed, or sealed with another key (GUESTLIST_ENCRYPTION_KEY, or encryptionKey of credentials.json)`,
  );
};

const flushFolder = async (folder: string): Promise<void> => {
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
};

/** Writes the mark atomically. With `isFlushed`, the mark is on disk when the promise resolves. */
export const writeMark = async (file: string, mark: HighWaterMark, key: MarkKey, isFlushed: boolean): Promise<void> => {
  const draft = `${file}.part`;
  const opened = await open(draft, 'w', 0o600);
  try {
    await opened.writeFile(`${JSON.stringify({ mark, seal: key === null ? null : sealOf(mark, key[0]) })}\n`);
    if (isFlushed) await opened.sync();
  } finally {
    await opened.close();
  }
  await rename(draft, file);
  if (isFlushed) await flushFolder(dirname(file));
};

/** Converts a log position to a number of bytes. */
export const bytesOf = (position: string): bigint => {
  const [high = '0', low = '0'] = position.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};
