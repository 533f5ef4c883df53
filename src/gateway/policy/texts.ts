/** Reads the files of a policy: the policy file, its `tenantFiles`, and the preset that it names. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isPresetFile, isPresetName, presetFile, readPresetText } from '../../platform/config/presets.js';
import { createSource, type Source } from '../../platform/files/yaml-source.js';
import type { PolicyFault } from './source.js';

/** A file of a policy. `file` is its name in faults and logs. */
export type PolicyFile = { readonly file: string; readonly text: string };

/**
 * The texts of a policy's files, and the faults of unreadable files. `own` is null if the policy file cannot be read.
 * `source` is that file, parsed. `preset` is the preset that it names, as the product has it. `watched` has each file and folder whose change can change the policy.
 */
export type PolicyTexts = {
  readonly own: PolicyFile | null;
  readonly source: Source | null;
  readonly beside: readonly PolicyFile[];
  readonly preset: PolicyFile | null;
  readonly faults: readonly PolicyFault[];
  readonly watched: readonly string[];
};

const isOverrides = (name: string): boolean => /\.tenants\.ya?ml$/.test(name);

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';

/** Returns the well-formed names under `tenantFiles`. The schema check reports the others. */
const namedIn = (source: Source): readonly { readonly name: string; readonly at: string }[] => {
  const { content } = source;
  const names: unknown =
    typeof content === 'object' && content !== null && 'tenantFiles' in content ? content.tenantFiles : [];
  if (!Array.isArray(names)) return [];
  return names.flatMap((name: unknown, index) =>
    typeof name === 'string' && name !== '' && !name.includes('\0')
      ? [{ name, at: source.at(source.offsetOf(['tenantFiles', index])) }]
      : [],
  );
};

/** The preset that the policy names, from the product. The schema check reports names that are none. */
const presetNamedIn = (source: Source | null): PolicyFile | null => {
  const name: unknown = Object(Object(source?.content).session).preset;
  return isPresetName(name) ? { file: presetFile(name), text: readPresetText(name) } : null;
};

const filesOf = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter(isOverrides)
        .toSorted()
        .map((name) => join(path, name))
    : [path];

/** Reads all files of a policy. An unreadable file is a fault at the place that refers to it. */
export const readPolicyTexts = (path: string): PolicyTexts => {
  const faults: PolicyFault[] = [];
  const watched: string[] = [path];
  const read = <T>(at: string, what: string, work: () => T): T | null => {
    try {
      return work();
    } catch (cause) {
      faults.push({ at, message: `${what} cannot be read (${codeOf(cause)})` });
      return null;
    }
  };
  const text = read(`${path}:1:1`, 'the policy file', () => readFileSync(path, 'utf8'));
  const own = text === null ? null : { file: path, text };
  const source = own === null ? null : createSource(own.text, own.file);
  const beside = (source === null ? [] : namedIn(source)).flatMap(({ name, at }) => {
    const named = resolve(dirname(path), name);
    watched.push(named);
    const files = read(at, `"${name}"`, () => filesOf(named)) ?? [];
    watched.push(...files);
    return files.flatMap((file) => {
      const found = read(at, `"${file}"`, () => readFileSync(file, 'utf8'));
      return found === null ? [] : [{ file, text: found }];
    });
  });
  return { own, source, beside, preset: presetNamedIn(source), faults, watched: [...new Set(watched)] };
};

/**
 * The texts of a policy that were kept: the policy file's is the first. A preset that was kept with them is used as it
 * was then.
 */
export const keptTexts = ([own, ...kept]: readonly PolicyFile[]): PolicyTexts => {
  const source = own === undefined ? null : createSource(own.text, own.file);
  const named = presetNamedIn(source);
  return {
    own: own ?? null,
    source,
    beside: kept.filter(({ file }) => !isPresetFile(file)),
    preset: kept.find(({ file }) => file === named?.file) ?? named,
    ...{ faults: [], watched: [] },
  };
};

/** Returns a digest of all texts and faults, so that the same faults in the same content are logged once. */
export const markOf = ({ own, beside, preset, faults }: PolicyTexts): string =>
  createHash('sha256')
    .update(JSON.stringify([own, beside, preset, faults]))
    .digest('hex');
