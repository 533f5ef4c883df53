/** The folder of files: reads it with all its faults at once, and writes what was pulled. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stringify } from 'yaml';
import type { z } from 'zod';
import { isSameJson } from '../../model/canonical-json.js';
import { schemaFaults } from '../../platform/files/schema-faults.js';
import { createSource, type FileFault, type Source } from '../../platform/files/yaml-source.js';
import { canonicalEmbed } from './embeds.js';
import { assertNoFileFaults } from './faults.js';
import {
  canonicalDashboard,
  canonicalDatamart,
  type DashboardFile,
  type DatamartFile,
  dashboardContent,
  dashboardFile,
  datamartFile,
  type EmbedFile,
  embedFile,
  formats,
  jsonSchemaOf,
  type Kind,
  kinds,
} from './formats.js';
import { addKnown, isKnown, type Known, type Named, readKnown } from './known.js';
import { type PolicyText, policyTextForFolder, readPolicyText } from './policies.js';
import type { Stored } from './service.js';

/** An object that a file describes. */
export type Definition =
  | { readonly kind: 'datamart'; readonly value: DatamartFile }
  | { readonly kind: 'dashboard'; readonly value: DashboardFile }
  | { readonly kind: 'embed'; readonly value: EmbedFile }
  | { readonly kind: 'policy'; readonly value: PolicyText };
/** A file with its path from the folder, and its lines for faults. */
export type DefinitionFile = Definition & { readonly file: string; readonly source: Source };

/** Everything that the service and the gateway have, in the order of `kinds`. */
export const definitionsOf = ({ datamarts, dashboards, embeds, policy }: Stored): readonly Definition[] => [
  ...datamarts.map((value) => ({ kind: 'datamart', value }) as const),
  ...dashboards.map(({ value }) => ({ kind: 'dashboard', value }) as const),
  ...(embeds?.own ?? []).map(({ value }) => ({ kind: 'embed', value }) as const),
  ...(policy?.outside.length === 0 ? policy.files : []).map((value) => ({ kind: 'policy', value }) as const),
];

/** What identifies an object, in words: `datamart flights`, `dashboard flights/delays`. */
export const nameOf = ({ kind, value }: Definition): string => {
  if (kind === 'dashboard') return `dashboard ${value.workspaceName}/${value.dashboardId}`;
  return kind === 'policy' ? `policy ${value.file}` : `${kind} ${value.name}`;
};

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** The tests of a policy are beside it, and no gateway reads them. */
const isTest = (kind: Kind, name: string): boolean => kind === 'policy' && /\.test\.ya?ml$/.test(name);

const listFiles = async (folder: string, kind: Kind): Promise<readonly string[]> => {
  try {
    const all = await readdir(join(folder, formats[kind].folder), { withFileTypes: true });
    const files = all.filter(
      (entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name) && !isTest(kind, entry.name),
    );
    return files.map(({ name }) => `${formats[kind].folder}/${name}`).toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
};

type Read = { readonly found: readonly DefinitionFile[]; readonly faults: readonly FileFault[] };

const decode = (kind: Exclude<Kind, 'policy'>, content: unknown): z.ZodSafeParseResult<Definition> => {
  if (kind === 'datamart') {
    return datamartFile.transform((value) => ({ kind, value: canonicalDatamart(value) })).safeParse(content);
  }
  if (kind === 'dashboard') {
    return dashboardFile.transform((value) => ({ kind, value: canonicalDashboard(value) })).safeParse(content);
  }
  return embedFile.transform((value) => ({ kind, value: canonicalEmbed(value) })).safeParse(content);
};

/** A policy is checked as a whole, later: see policies.ts. */
const readOne = async (folder: string, kind: Kind, file: string): Promise<Read> => {
  const source = createSource(await readFile(join(folder, file), 'utf8'), join(folder, file));
  if (source.problems.length > 0) return { found: [], faults: source.problems };
  if (kind === 'policy') {
    const value = await readPolicyText(join(folder, formats.policy.folder), basename(file));
    return { found: [{ kind, file, source, value }], faults: [] };
  }
  const { data, error } = decode(kind, source.content);
  if (error !== undefined) return { found: [], faults: schemaFaults(source, error, formats[kind].schema) };
  return { found: [{ ...data, file, source }], faults: [] };
};

/** The second file of one object is a fault. */
const doubleFaults = (files: readonly DefinitionFile[]): readonly FileFault[] =>
  files.flatMap((one, at) => {
    const first = files.find((other) => nameOf(other) === nameOf(one));
    if (first === undefined || files.indexOf(first) === at) return [];
    const message = `${nameOf(one)} is described by ${first.file} too; remove one of the files`;
    return [{ at: one.source.at(0), message }];
  });

/** Returns the definitions, datamarts first. Throws FileFaults with the faults of all files. */
export const readFolder = async (folder: string): Promise<readonly DefinitionFile[]> => {
  const reads: Read[] = [];
  for (const kind of kinds) {
    for (const file of await listFiles(folder, kind)) reads.push(await readOne(folder, kind, file));
  }
  const found = reads.flatMap((read) => read.found);
  assertNoFileFaults([...reads.flatMap(({ faults }) => faults), ...doubleFaults(found)]);
  return found;
};

/** The object's name, and what its file says. */
export const namedContent = (definition: Definition): Named => {
  const name = nameOf(definition);
  if (definition.kind === 'policy') return { name, content: definition.value.content };
  return { name, content: definition.kind === 'dashboard' ? dashboardContent(definition.value) : definition.value };
};

const textOf = (definition: Definition): string => {
  if (definition.kind === 'policy') return policyTextForFolder(definition.value);
  const { content } = namedContent(definition);
  const schema = `../.schemas/${formats[definition.kind].schemaFile}`;
  const yaml = stringify(JSON.parse(JSON.stringify(content)), { lineWidth: 0, aliasDuplicateObjects: false });
  return `# yaml-language-server: $schema=${schema}\n${yaml}`;
};

/** A file name that every system takes; names may hold any letter. `taken` are in lower case. */
const newFile = (definition: Definition, taken: ReadonlySet<string>): string => {
  const { kind, value } = definition;
  if (kind === 'policy') return `${formats.policy.folder}/${value.file}`;
  const name = kind === 'dashboard' ? value.dashboardId : value.name;
  const plain =
    name
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 80) || kind;
  for (let count = 1; ; count += 1) {
    const file = `${formats[kind].folder}/${plain}${count === 1 ? '' : `-${count}`}.yaml`;
    if (!taken.has(file.toLowerCase())) return file;
  }
};

/** Policies are the same if they differ in comments alone. */
const isSame = (file: Definition, stored: Definition): boolean => {
  if (file.kind === 'policy' && stored.kind === 'policy') return isSameJson(file.value.content, stored.value.content);
  return isSameJson(file.value, stored.value);
};

/** What `pull` did to each file. It keeps a file that was edited here. `isNewer`: it was changed in the service too. */
export type Pulled = {
  readonly file: string;
  readonly name: string;
  readonly action: 'written' | 'unchanged' | 'kept';
  readonly isNewer?: true;
};

const writeText = async (folder: string, file: string, text: string): Promise<void> => {
  await mkdir(join(folder, file, '..'), { recursive: true });
  await writeFile(join(folder, file), text);
};

/**
 * Writes the definitions: each into the file that describes it already, else into a new one. A file that says the same
 * stays as it is, with its comments. Other files stay.
 */
export const writeFolder = async (
  folder: string,
  files: readonly DefinitionFile[],
  definitions: readonly Definition[],
): Promise<readonly Pulled[]> => {
  const taken = new Set<string>();
  for (const kind of kinds) for (const file of await listFiles(folder, kind)) taken.add(file.toLowerCase());
  for (const kind of kinds) {
    const text = `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`;
    await writeText(folder, `.schemas/${formats[kind].schemaFile}`, text);
  }
  const pulled: Pulled[] = [];
  for (const definition of definitions) {
    const name = nameOf(definition);
    const known = files.find((file) => nameOf(file) === name);
    const file = known?.file ?? newFile(definition, taken);
    taken.add(file.toLowerCase());
    const isEqual = known !== undefined && isSame(known, definition);
    if (!isEqual) await writeText(folder, file, textOf(definition));
    pulled.push({ file, name, action: isEqual ? 'unchanged' : 'written' });
  }
  return pulled;
};

const isEdited = (file: Definition, stored: Definition, known: Known): boolean =>
  !isSame(file, stored) && known.has(nameOf(file)) && !isKnown(known, namedContent(file));

/** Writes what the service has as `writeFolder` does, but keeps files that were edited here, unless `isOverwriting`. */
export const pullFolder = async (
  folder: string,
  files: readonly DefinitionFile[],
  definitions: readonly Definition[],
  isOverwriting: boolean,
): Promise<readonly Pulled[]> => {
  const known = await readKnown(folder);
  const kept = new Map<Definition, Pulled>();
  for (const stored of isOverwriting ? [] : definitions) {
    const file = files.find((each) => nameOf(each) === nameOf(stored));
    if (file === undefined || !isEdited(file, stored, known)) continue;
    const newer = isKnown(known, namedContent(stored)) ? {} : { isNewer: true as const };
    kept.set(stored, { file: file.file, name: nameOf(file), action: 'kept', ...newer });
  }
  const taken = definitions.filter((stored) => !kept.has(stored));
  const pulled = await writeFolder(folder, files, taken);
  await addKnown(folder, taken.map(namedContent));
  return [...pulled, ...kept.values()];
};
