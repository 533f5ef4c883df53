/** Reads Dockerfile, compose.yaml and the chart of this repository for the tests of this folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

export type PackageManifest = {
  readonly version: string;
  readonly files: readonly string[];
  readonly engines: { readonly node: string };
};
export const manifest: PackageManifest = JSON.parse(read('package.json'));

/** One instruction, its continuation lines joined. */
export type Instruction = { readonly name: string; readonly text: string };

/** The instructions of each stage, in order; the first list holds what comes before the first FROM. */
export const readStages = (): readonly (readonly Instruction[])[] => {
  const lines = read('Dockerfile')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: text.replace(/\s+/g, ' ') });
  }
  return stages;
};

/** What one COPY takes: `from` is a stage, or null for this repository. */
export type Copy = { readonly from: string | null; readonly sources: readonly string[]; readonly target: string };

export const copiesOf = (stage: readonly Instruction[]): readonly Copy[] =>
  stage
    .filter(({ name }) => name === 'COPY')
    .map(({ text }) => {
      const words = text.split(' ').filter((word) => !word.startsWith('--'));
      const from = /--from=(\S+)/.exec(text)?.[1] ?? null;
      return { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' };
    });

/** Variables that the instructions of this name set, with their values. */
export const variablesOf = (stage: readonly Instruction[], instruction: 'ENV' | 'ARG'): Record<string, string> =>
  Object.fromEntries(
    stage
      .filter(({ name }) => name === instruction)
      .flatMap(({ text }) => [...text.matchAll(/([A-Z_]+)(?:=("[^"]*"|\S*))?/g)])
      .map(([, name = '', value = '']) => [name, value.replaceAll('"', '')]),
  );

/** A Helm of this machine: TEST_HELM, otherwise `helm` of the PATH. Undefined: none. Says so loudly. */
export const findHelm = (): string | undefined => {
  const named = process.env.TEST_HELM;
  const candidates =
    named === undefined ? (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'helm')) : [named];
  const found = candidates.find((file) => existsSync(file));
  if (found === undefined) console.warn('NO HELM at TEST_HELM or on the PATH: THE CHART IS NOT RENDERED');
  return found;
};
