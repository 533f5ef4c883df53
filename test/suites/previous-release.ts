/** The built product of the previous release. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { extract } from 'tar';

const packed = fileURLToPath(new URL('../previous-release/guestlist.tar.br', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Unpacks it below this repository's packages, which it needs. */
export const unpackPrevious = async () => {
  const folder = await mkdtemp(join(modules, '.guestlist-previous-'));
  await pipeline(createReadStream(packed), createBrotliDecompress(), extract({ cwd: folder }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
};
