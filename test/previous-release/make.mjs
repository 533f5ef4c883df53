/** Packs the built product of this folder for the tests of the next release. See README.md. */
import { createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { constants, createBrotliCompress } from 'node:zlib';
import { create } from 'tar';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scripts = (await readdir(`${root}/dist`)).filter((file) => file.endsWith('.js')).map((file) => `dist/${file}`);
const isLeftOut = (path) => /\.(?:map|d\.ts|br|gz)$|^dist\/web\/docs(?:\/|$)/.test(path);
const files = create({ cwd: root, portable: true, filter: (path) => !isLeftOut(path) }, [
  ...scripts,
  'dist/web',
  'bin',
  'config',
  'package.json',
]);
const compress = createBrotliCompress({ params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } });
await pipeline(files, compress, createWriteStream(new URL('guestlist.tar.br', import.meta.url)));
