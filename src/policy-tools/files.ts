/** The files that the policy commands are given: policies, and tests beside them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadPolicyFile } from '../gateway/policy/load.js';
import type { Policy } from '../gateway/policy/policy.js';
import { type PolicyFault, PolicyFaults } from '../gateway/policy/source.js';

const isTest = (file: string): boolean => /\.test\.ya?ml$/.test(file);
/** Beside a policy lie its tests, and the overrides of tenants, which are parts of one. */
const isPolicy = (file: string): boolean => /\.ya?ml$/.test(file) && !/\.(test|tenants)\.ya?ml$/.test(file);

/** Runs what reads a file. Throws PolicyFaults where it cannot be read. */
const reading = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    throw new PolicyFaults([{ at: `${path}:1:1`, message: `cannot be read (${String(cause.code)})` }]);
  }
};

/** The text of a file, or of the standard input for `-`. Throws PolicyFaults where it cannot be read. */
export const readInput = (path: string): string => reading(path, () => readFileSync(path === '-' ? 0 : path, 'utf8'));

export const isFolder = (path: string): boolean => reading(path, () => statSync(path).isDirectory());

const listFolder = (folder: string, isWanted: (file: string) => boolean): readonly string[] =>
  reading(folder, () => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    .filter(isWanted)
    .toSorted();

/** The files of policy tests that are named, or lie in a folder that is named. Throws PolicyFaults. */
export const listTestFiles = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => (isFolder(path) ? listFolder(path, isTest).map((file) => join(path, file)) : [path]));

/** Loads all of them. Throws PolicyFaults, with the faults of every one. */
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

/** Runs what may throw PolicyFaults on each, one after the other. Throws PolicyFaults, with the faults of every one. */
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

/** The policies of a folder by their path in it, or one by its file's name. Throws PolicyFaults. */
export const loadPolicies = (path: string): ReadonlyMap<string, Policy> => {
  const files = isFolder(path)
    ? listFolder(path, isPolicy).map((file) => [file, join(path, file)])
    : [[basename(path), path]];
  return new Map(loadEach(files, ([name = '', file = '']) => [name, loadPolicyFile(file)] as const));
};
