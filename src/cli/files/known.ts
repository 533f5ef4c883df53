/**
 * What a folder has had of each object: digests of the contents that were pulled into it or pushed from it. By them a push
 * knows whether somebody changed the object elsewhere, and a pull whether somebody edited the file. They do not depend on
 * the service, so one folder can be pushed to several.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../../model/canonical-json.js';
import { isMissing } from '../../platform/files/missing.js';
import { WrongCall } from '../kit/exit.js';

/** The digests of each object by its name, the oldest first. */
export type Known = ReadonlyMap<string, readonly string[]>;
export type Named = { readonly name: string; readonly content: unknown };

const file = '.known.json';
const longest = 20;
const format = z.record(z.string(), z.array(z.string()));

const digestOf = (content: unknown): string =>
  createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 32);

export const isKnown = (known: Known, { name, content }: Named): boolean =>
  known.get(name)?.includes(digestOf(content)) ?? false;

const parsed = (text: string, place: string): z.output<typeof format> => {
  try {
    return format.parse(JSON.parse(text));
  } catch (cause) {
    const mend = 'take it from version control again, or remove it and run guestlist pull';
    throw new WrongCall(`${place} cannot be read: ${mend}`, { cause });
  }
};

/** Empty for a folder without the file. Throws WrongCall if the file cannot be read. */
export const readKnown = async (folder: string): Promise<Known> => {
  const place = join(folder, file);
  try {
    return new Map(Object.entries(parsed(await readFile(place, 'utf8'), place)));
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
};

/** Adds contents to what the folder has had, and writes it if that is new. */
export const addKnown = async (folder: string, contents: readonly Named[]): Promise<void> => {
  const known = new Map(await readKnown(folder));
  const before = canonicalJson(Object.fromEntries(known));
  for (const { name, content } of contents) {
    const digest = digestOf(content);
    known.set(name, [...(known.get(name) ?? []).filter((each) => each !== digest), digest].slice(-longest));
  }
  const next = canonicalJson(Object.fromEntries(known));
  if (next === before) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, file), `${JSON.stringify(JSON.parse(next), null, 2)}\n`);
};
