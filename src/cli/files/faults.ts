/** Faults of files: each with its file, line and field, what is wrong, and how to mend it. */
import type { FileFault } from '../../platform/files/yaml-source.js';

/** All faults of all files, in one message. */
export class FileFaults extends Error {
  override readonly name = 'FileFaults';
}

/** Throws FileFaults with all faults, if there are some. */
export const assertNoFileFaults = (faults: readonly FileFault[]): void => {
  if (faults.length === 0) return;
  const lines = faults.map(({ at, message }) => `  ${at}: ${message.replace(/\p{Cc}/gu, '\uFFFD')}`);
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
  throw new FileFaults(`${count} in the files, and nothing was done:\n${lines.join('\n')}`);
};
