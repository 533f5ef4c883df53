/**
 * Policies in the folder of files. The gateway reads its policy from files of its machine, so a policy is compared and
 * written where the configuration says that the gateway reads it, and only there.
 */
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { loadPolicyTexts } from '../../gateway/policy/load.js';
import { everythingNamed } from '../../gateway/policy/reach.js';
import { PolicyFaults } from '../../gateway/policy/source.js';
import { type PolicyFile, readPolicyTexts } from '../../gateway/policy/texts.js';
import { createSource, type FileFault } from '../../platform/files/yaml-source.js';

/** One file of a policy. `file` is its name in the policy's folder. */
export type PolicyText = { readonly file: string; readonly text: string; readonly content: unknown };
/** The configured policy. `files` is empty if there is none yet. `outside`: its files that lie in other folders. */
export type StoredPolicy = {
  readonly path: string;
  readonly files: readonly PolicyText[];
  readonly outside: readonly string[];
};

const schemaLine = '# yaml-language-server: $schema=../.schemas/policy.json\n';

/** The text in the folder of files: with a first line for editors. Files of tenants have another schema, and no line. */
export const policyTextForFolder = ({ file, text }: PolicyText): string =>
  text.includes('yaml-language-server:') || /\.tenants\.ya?ml$/.test(file) ? text : `${schemaLine}${text}`;

const policyText = (folder: string, { file, text }: PolicyFile): PolicyText => ({
  file: relative(folder, file),
  text: text.startsWith(schemaLine) ? text.slice(schemaLine.length) : text,
  content: createSource(text, file).content,
});

export const readPolicyText = async (folder: string, file: string): Promise<PolicyText> =>
  policyText(folder, { file: join(folder, file), text: await readFile(join(folder, file), 'utf8') });

/** Reads the files of the policy at `path`. */
export const readStoredPolicy = (path: string): StoredPolicy => {
  const folder = dirname(path);
  const { own, beside } = readPolicyTexts(path);
  const files = (own === null ? [] : [own, ...beside]).map((each) => policyText(folder, each));
  const isOutside = ({ file }: PolicyText): boolean => file.includes(sep);
  return {
    path,
    files: files.filter((each) => !isOutside(each)),
    outside: files.filter(isOutside).map(({ file }) => join(folder, file)),
  };
};

/** Loads the policy of `folder` as if it were in its place, where its tables of tenants are. */
const loadInPlace = (folder: string, path: string): readonly FileFault[] => {
  const moved = (file: string): string => join(dirname(path), relative(folder, file));
  const texts = readPolicyTexts(join(folder, basename(path)));
  const { own, beside } = texts;
  const all = [...(own === null ? [] : [own]), ...beside];
  try {
    if (own === null) throw new PolicyFaults(texts.faults);
    loadPolicyTexts(
      {
        ...texts,
        own: { ...own, file: moved(own.file) },
        source: createSource(own.text, moved(own.file)),
        beside: beside.map((each) => ({ ...each, file: moved(each.file) })),
      },
      everythingNamed,
    );
    return [];
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return error.faults.map(({ at, message }) => {
      const from = all.find(({ file }) => at.startsWith(`${moved(file)}:`));
      return { at: from === undefined ? at : `${from.file}${at.slice(moved(from.file).length)}`, message };
    });
  }
};

/** The faults of the policy in `folder`, whose files are `names`. */
export const policyFaults = (
  folder: string,
  names: readonly string[],
  stored: StoredPolicy | undefined,
): readonly FileFault[] => {
  const [first] = names;
  if (first === undefined) return [];
  const fault = (name: string, message: string): FileFault => ({ at: `${join(folder, name)}:1:1`, message });
  if (stored === undefined) {
    const mend = "run this on the gateway's machine, in the folder of its guestlist.yaml";
    return [fault(first, `a policy is written where the gateway's configuration says that it is: ${mend}`)];
  }
  const own = basename(stored.path);
  if (!names.includes(own)) return [fault(first, `the gateway reads ${stored.path}: name the policy's file ${own}`)];
  const faults = loadInPlace(folder, stored.path);
  if (faults.length > 0) return faults;
  const { beside } = readPolicyTexts(join(folder, own));
  const used = new Set([own, ...beside.map(({ file }) => relative(folder, file))]);
  const unused = names.filter((name) => !used.has(name));
  return unused.map((name) => fault(name, `is no part of the policy: ${own} does not name it under tenantFiles`));
};

/** A file could not be written. */
export class WriteFault extends Error {
  override readonly name = 'WriteFault';
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const unlessMissing = <Found>(error: unknown, instead: Found): Found => {
  if (hasCode(error, 'ENOENT')) return instead;
  throw error;
};

/** Replaces the file in one step: a reader finds the old text or the new one. Throws WriteFault. */
export const writePolicyText = async (folder: string, { file, text }: PolicyText): Promise<void> => {
  const path = resolve(folder, file);
  try {
    const target = await realpath(path).catch((error: unknown) => unlessMissing(error, path));
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      (error: unknown) => unlessMissing(error, 0o600),
    );
    const temporary = `${target}.${process.pid}.new`;
    try {
      await writeFile(temporary, text, { mode });
      await rename(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
  } catch (cause) {
    throw new WriteFault(`${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
};
