/** Finds and reads the files of the policy commands: policies and their tests. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadPolicyFile } from '../policy/load.js';
import type { Policy } from '../policy/policy.js';
import { type PolicyFault, PolicyFaults } from '../policy/source.js';

const isTest = (file: string): boolean => /\.test\.ya?ml$/.test(file);
/** Whether a file is a policy. Test files and files of tenant overrides are in the same folder. */
const isPolicy = (file: string): boolean => /\.ya?ml$/.test(file) && !/\.(test|tenants)\.ya?ml$/.test(file);

/** Converts a read error to PolicyFaults. */
const reading = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    throw new PolicyFaults([{ at: `${path}:1:1`, message: `cannot be read (${String(cause.code)})` }]);
  }
};

/** Returns the text of a file, or of the standard input for `-`. Throws PolicyFaults if it cannot be read. */
export const readInput = (path: string): string => reading(path, () => readFileSync(path === '-' ? 0 : path, 'utf8'));

export const isFolder = (path: string): boolean => reading(path, () => statSync(path).isDirectory());

/** Packages bring policies and tests of their own, such as those of the demo. */
const isOfPackage = (file: string): boolean => file.split(/[/\\]/).includes('node_modules');

const listFolder = (folder: string, isWanted: (file: string) => boolean): readonly string[] =>
  reading(folder, () => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    .filter((file) => isWanted(file) && !isOfPackage(file))
    .toSorted();

/**
 * Returns the given test files, and all test files in the given folders. Throws PolicyFaults if a path cannot be read.
 */
export const listTestFiles = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => (isFolder(path) ? listFolder(path, isTest).map((file) => join(path, file)) : [path]));

/** Loads all items. If some fail, throws one PolicyFaults with the faults of all of them. */
export const loadEach = <Item, Loaded>(items: readonly Item[], load: (item: Item) => Loaded): readonly Loaded[] => {
  const loaded: Loaded[] = [];
  const faults = items.flatMap((item) => {
    try {
      loaded.push(load(item));
      return [];
    } catch (error) {
      if (!(error instanceof PolicyFaults)) throw error;
      return error.faults;
    }
  });
  if (faults.length > 0) throw new PolicyFaults(faults);
  return loaded;
};

/**
 * Runs a task on each item, one after the other. If some fail, rejects with one PolicyFaults with the faults of all of
 * them.
 */
export const runEach = async <Item, Done>(
  items: readonly Item[],
  run: (item: Item) => Promise<Done>,
): Promise<readonly Done[]> => {
  const done: Done[] = [];
  const faults: PolicyFault[] = [];
  for (const item of items) {
    try {
      done.push(await run(item));
    } catch (error) {
      if (!(error instanceof PolicyFaults)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new PolicyFaults(faults);
  return done;
};

/** Returns the policies of a folder by their path in it, or one policy by its file name. Throws PolicyFaults. */
export const loadPolicies = (path: string): ReadonlyMap<string, Policy> => {
  const files = isFolder(path)
    ? listFolder(path, isPolicy).map((file) => [file, join(path, file)])
    : [[basename(path), path]];
  return new Map(loadEach(files, ([name = '', file = '']) => [name, loadPolicyFile(file)] as const));
};
