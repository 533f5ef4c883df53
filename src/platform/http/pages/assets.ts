import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import type { Step } from '../wire/in-turn.js';
import { localUrlOf, pathOf, readsOnly } from '../wire/request.js';
import { flat, send } from '../wire/sending.js';

export type AssetFile = {
  readonly file: string;
  readonly contentType: string;
  /** True: pages of other origins may load the file. */
  readonly isPublic?: boolean;
  /** True: browsers ask at each use whether the file is still the same. It names chunks that the next build lacks. */
  readonly isRevalidated?: boolean;
  /** True: the file's name has a hash of its content, so browsers may keep it for ever. */
  readonly isImmutable?: boolean;
  /** Replaces the app's own policy, which allows no scripts. */
  readonly contentSecurityPolicy?: string;
};

type Asset = AssetFile & {
  readonly etag: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  readonly brotli: Buffer | undefined;
};
export type Assets = ReadonlyMap<string, Asset>;

/** The build writes the file compressed beside it. It is used only if it has the very content of the file. */
const brotliOf = async (file: string, body: Buffer): Promise<Buffer | undefined> => {
  const compressed = await readFile(`${file}.br`).catch(() => undefined);
  if (compressed === undefined) return undefined;
  const content = await promisify(brotliDecompress)(compressed).catch(() => undefined);
  return content?.equals(body) === true ? compressed : undefined;
};

const load = async (path: string, asset: AssetFile): Promise<[string, Asset]> => {
  const body = await readFile(asset.file).catch((cause: unknown) => {
    throw new Error(`The file for ${path} cannot be read: ${asset.file}. Run the build first.`, { cause });
  });
  // A weak ETag, since the compressed form has the same one.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  const gzipped = await promisify(gzip)(body, { level: 9 });
  return [path, { ...asset, body, etag, gzipped, brotli: await brotliOf(asset.file, body) }];
};

/** Reads all files once. Keys are the paths that they are served at. Throws if a file is missing. */
export const loadAssets = async (files: Readonly<Record<string, AssetFile>>): Promise<Assets> =>
  new Map(await Promise.all(Object.entries(files).map(([path, asset]) => load(path, asset))));

const script = 'text/javascript; charset=utf-8';

const namesIn = (folder: string): Promise<readonly string[]> =>
  readdir(folder).catch((cause: unknown) => {
    throw new Error(`The folder ${folder} cannot be read. Run the build first.`, { cause });
  });

const fontTypes: Readonly<Record<string, string>> = {
  woff2: 'font/woff2',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** The shipped font, its style sheet and its licence. Pages of other origins use the font by the elements. */
const fontFiles = async (webFolder: string): Promise<Readonly<Record<string, AssetFile>>> => {
  const folder = join(webFolder, 'fonts');
  const file = (name: string): AssetFile => {
    const contentType = fontTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    const kept = name.endsWith('.woff2') ? { isImmutable: true } : { isRevalidated: true };
    return { file: join(folder, name), contentType, isPublic: true, ...kept };
  };
  return Object.fromEntries((await namesIn(folder)).map((name) => [`/fonts/${name}`, file(name)]));
};

/** Returns `elements.js`, and the chunks in `charts/` and the fonts beside it, by the paths at which they are served. */
export const elementFiles = async (webFolder: string): Promise<Readonly<Record<string, AssetFile>>> => {
  const chunks = (await namesIn(join(webFolder, 'charts'))).filter((name) => name.endsWith('.js'));
  const file = (path: string): AssetFile => ({ file: join(webFolder, path), contentType: script, isPublic: true });
  return {
    '/elements.js': { ...file('elements.js'), isRevalidated: true },
    ...Object.fromEntries(chunks.map((name) => [`/charts/${name}`, { ...file(`charts/${name}`), isImmutable: true }])),
    ...(await fontFiles(webFolder)),
  };
};

/** The page answers every path of Studio that is no file; it runs its own scripts and calls its own origin. */
const studioPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data:";

export const studioPage = '/studio';

/** Returns the page of Studio and its files, by the paths at which they are served. */
export const studioFiles = async (webFolder: string): Promise<Readonly<Record<string, AssetFile>>> => {
  const folder = join(webFolder, 'studio');
  const scripts = (await namesIn(folder)).filter((name) => name.endsWith('.js'));
  const html = { contentType: 'text/html; charset=utf-8', contentSecurityPolicy: studioPolicy };
  return {
    [studioPage]: { file: join(folder, 'studio.html'), ...html, isRevalidated: true },
    '/studio/studio.css': {
      file: join(folder, 'studio.css'),
      contentType: 'text/css; charset=utf-8',
      isRevalidated: true,
    },
    ...Object.fromEntries(
      scripts.map((name) => {
        const kept = name === 'studio.js' ? { isRevalidated: true } : { isImmutable: true };
        return [`/studio/${name}`, { file: join(folder, name), contentType: script, ...kept }];
      }),
    ),
  };
};

const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag.slice(2));

/** Whether a caller takes an answer that is compressed in this way, by its `Accept-Encoding`. */
const accepts = (coding: 'gzip' | 'br', acceptEncoding = ''): boolean =>
  acceptEncoding.split(',').some((one) => {
    const [name = '', weight = 'q=1'] = one.split(';').map((part) => part.trim().toLowerCase());
    return (name === coding || name === '*') && !/^q=0(\.0*)?$/.test(weight);
  });

export const acceptsGzip = (acceptEncoding: string | undefined): boolean => accepts('gzip', acceptEncoding);

const encodedFor = ({ body, gzipped, brotli }: Asset, acceptEncoding: string | undefined) => {
  // A font is compressed in its own way.
  if (gzipped.length >= body.length) return { body, coding: undefined };
  if (brotli !== undefined && accepts('br', acceptEncoding)) return { body: brotli, coding: 'br' };
  return acceptsGzip(acceptEncoding) ? { body: gzipped, coding: 'gzip' } : { body, coding: undefined };
};

/** Whether the query names the content by the first 16 characters of its ETag: `?v=…`. Then it never changes. */
const isVersion = ({ etag }: Asset, url: string): boolean => {
  const version = /[?&]v=([\w-]{16})(?:&|$)/.exec(url)?.[1];
  return version !== undefined && etag.startsWith(`W/"${version}`);
};

const cachingOf = (asset: Asset, url: string): string => {
  const { isImmutable, isRevalidated } = asset;
  if (isImmutable || isVersion(asset, url)) return 'public, max-age=31536000, immutable';
  return isRevalidated ? 'public, no-cache' : 'public, max-age=300';
};

const headersOf = (asset: Asset, url: string) => ({
  'Content-Type': asset.contentType,
  ETag: asset.etag,
  'Cache-Control': cachingOf(asset, url),
  Vary: 'Accept-Encoding',
  ...(asset.isPublic ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' } : {}),
  ...(asset.contentSecurityPolicy === undefined ? {} : { 'Content-Security-Policy': asset.contentSecurityPolicy }),
});

/** Serves fixed files, and calls `next` for all other paths. */
export const serveAssets =
  (assets: Assets): Step =>
  (request, response, next) => {
    const asset = readsOnly(request) ? assets.get(pathOf(request)) : undefined;
    if (asset === undefined) return next();
    const headers = flat(headersOf(asset, localUrlOf(request)));
    if (isUnchanged(request.headers['if-none-match'], asset.etag)) return send(response, { status: 304, headers });
    const { body, coding } = encodedFor(asset, request.headers['accept-encoding']);
    const encoding = coding === undefined ? [] : ['Content-Encoding', coding];
    return send(response, { status: 200, headers: [...headers, ...encoding], body });
  };
