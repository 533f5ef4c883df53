import { readFileSync } from 'node:fs';

/** The package's version. The path is valid from src/cli, dist/cli and the bundled command line in dist/. */
export const readVersion = (): string => {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const { name, version }: { name: string; version: string } = JSON.parse(
        readFileSync(new URL(path, import.meta.url), 'utf8'),
      );
      if (name === 'guestlist') return version;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  throw new Error('package.json of guestlist is missing: install guestlist again');
};
