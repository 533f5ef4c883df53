// The mutants: all `*.yaml` files of this folder. Each edit must find its text exactly once; otherwise the mutant is
// out of date.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const own = fileURLToPath(new URL('.', import.meta.url));
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The mutants of all files; of one, if `only` names it without its ending. */
export const readMutants = (only) =>
  readdirSync(own)
    .filter((file) => (only === undefined ? file.endsWith('.yaml') : file === `${only}.yaml`))
    .sort()
    .flatMap((file) => parse(readFileSync(join(own, file), 'utf8')));

/**
 * Returns the files of the project in `folder` as the mutant changes them, by path; or what is wrong with the mutant.
 */
export const applied = ({ name, edits }, folder = root) => {
  const texts = new Map();
  for (const { file, find, put } of edits) {
    const text = texts.get(file) ?? readFileSync(join(folder, file), 'utf8');
    const parts = text.split(find);
    if (parts.length !== 2)
      return { fault: `${name}: ${file} holds the text ${parts.length - 1} times, not once:\n${find}` };
    texts.set(file, parts.join(put));
  }
  return { texts };
};
