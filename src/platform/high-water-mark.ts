/**
 * The high-water mark of the embedded database: how far it had come, in a file beside its folder. A database that is behind its mark
 * lost what it had acknowledged: files were cut, went missing, or were replaced by older ones. The database itself cannot tell.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { fileFault } from './file-faults.js';

const lsn = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);
const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

const content = z.strictObject({
  version: z.literal(1),
  /** When it was written: ISO 8601. */
  at: z.iso.datetime(),
  /** Up to where the write-ahead log was written: PostgreSQL's `pg_lsn`. */
  lsn,
  /** The last entry of the gateway's audit; null: this process keeps none. */
  audit: z.strictObject({ seq: z.number().int().min(0), hash: hex64 }).nullable(),
  /** A start found the database behind this mark, and nobody has accepted the loss. Starting alone lets the log grow past the mark. */
  isBehind: z.boolean(),
});
const stored = z.strictObject({ mark: content, seal: hex64.nullable() });

export type HighWaterMark = z.output<typeof content>;

/** Seals marks, so that whoever can write the file alone cannot lower the mark. */
export type MarkKey = Buffer | null;

/** Of the key that datasources' credentials are sealed with: what one seals, the other does not open. */
export const markKeyOf = (sealingKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', sealingKey, '', 'guestlist high-water mark', 32));

const sealOf = (mark: HighWaterMark, key: Buffer): string =>
  createHmac('sha256', key).update(JSON.stringify(mark)).digest('hex');

const isSealed = (mark: HighWaterMark, seal: string | null, key: MarkKey): boolean => {
  if (key === null) return true;
  return seal !== null && timingSafeEqual(Buffer.from(seal, 'hex'), Buffer.from(sealOf(mark, key), 'hex'));
};

export const markFileOf = (folder: string): string => `${folder}.mark`;

/** The mark cannot be trusted: damaged, changed, or sealed with another key. */
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
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw await fileFault(file, 'read', cause);
  }
};

/** Undefined where there is none. Throws MarkUnreadable. */
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

/** Whole or not at all; with `isFlushed` on the disk when it resolves. */
export const writeMark = async (file: string, mark: HighWaterMark, key: MarkKey, isFlushed: boolean): Promise<void> => {
  const draft = `${file}.part`;
  const opened = await open(draft, 'w', 0o600);
  try {
    await opened.writeFile(`${JSON.stringify({ mark, seal: key === null ? null : sealOf(mark, key) })}\n`);
    if (isFlushed) await opened.sync();
  } finally {
    await opened.close();
  }
  await rename(draft, file);
  if (isFlushed) await flushFolder(dirname(file));
};

/** A position of the log as a number of bytes. */
export const bytesOf = (position: string): bigint => {
  const [high = '0', low = '0'] = position.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};
