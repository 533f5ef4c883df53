import { readFileSync } from 'node:fs';
import { isMissing } from '../platform/files/missing.js';

/** The package's version. The path is valid from src/cli, dist/cli and the bundled command line in dist/. */
export const readVersion = (): string => {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const { name, version }: { name: string; version: string } = JSON.parse(
        readFileSync(new URL(path, import.meta.url), 'utf8'),
      );
      if (name === 'guestlist') return version;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  throw new Error('package.json of guestlist is missing: install guestlist again');
};
