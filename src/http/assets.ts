import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type AssetFile = {
  readonly file: string;
  readonly contentType: string;
  /** True: pages of other origins may load the file. */
  readonly isPublic?: boolean;
  /** True: the file's name has a hash of its content, so browsers may keep it for ever. */
  readonly isImmutable?: boolean;
  /** Replaces the app's own policy, which allows no scripts. */
  readonly contentSecurityPolicy?: string;
};

type Asset = AssetFile & { readonly etag: string; readonly body: Buffer; readonly gzipped: Buffer };
export type Assets = ReadonlyMap<string, Asset>;

const load = async (path: string, asset: AssetFile): Promise<[string, Asset]> => {
  const body = await readFile(asset.file).catch((cause: unknown) => {
    throw new Error(`The file for ${path} cannot be read: ${asset.file}. Run the build first.`, { cause });
  });
  // A weak ETag, since the compressed form has the same one.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  return [path, { ...asset, body, etag, gzipped: await promisify(gzip)(body, { level: 9 }) }];
};

/** Reads all files once. Keys are the paths that they are served at. Throws if a file is missing. */
export const loadAssets = async (files: Readonly<Record<string, AssetFile>>): Promise<Assets> =>
  new Map(await Promise.all(Object.entries(files).map(([path, asset]) => load(path, asset))));

const script = 'text/javascript; charset=utf-8';

/** Returns `elements.js` and the chunks in `charts/` beside it, by the paths at which they are served. */
export const elementFiles = async (webFolder: string): Promise<Readonly<Record<string, AssetFile>>> => {
  const chunks = await readdir(join(webFolder, 'charts')).catch((cause: unknown) => {
    throw new Error(`The folder ${join(webFolder, 'charts')} cannot be read. Run the build first.`, { cause });
  });
  const file = (path: string): AssetFile => ({ file: join(webFolder, path), contentType: script, isPublic: true });
  return {
    '/elements.js': file('elements.js'),
    ...Object.fromEntries(chunks.map((name) => [`/charts/${name}`, { ...file(`charts/${name}`), isImmutable: true }])),
  };
};

const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag.slice(2));

/** Whether a caller takes a compressed answer, by its `Accept-Encoding`. */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  (acceptEncoding ?? '').split(',').some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(coding));

const headersOf = ({ contentType, etag, isPublic, isImmutable, contentSecurityPolicy }: Asset) => ({
  'Content-Type': contentType,
  ETag: etag,
  'Cache-Control': isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
  Vary: 'Accept-Encoding',
  ...(isPublic ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' } : {}),
  ...(contentSecurityPolicy === undefined ? {} : { 'Content-Security-Policy': contentSecurityPolicy }),
});

const pathOf = ({ url = '' }: IncomingMessage): string => url.replace(/[?#].*$/, '');

/**
 * Serves fixed files, and calls `next` for all other paths. It uses only Node's request and response, so it also works
 * without Express.
 */
export const serveAssets =
  (assets: Assets) =>
  (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const asset = isRead ? assets.get(pathOf(request)) : undefined;
    if (asset === undefined) {
      next();
      return;
    }
    for (const [name, value] of Object.entries(headersOf(asset))) response.setHeader(name, value);
    if (isUnchanged(request.headers['if-none-match'], asset.etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    const isGzipped = acceptsGzip(request.headers['accept-encoding']);
    if (isGzipped) response.setHeader('Content-Encoding', 'gzip');
    const body = isGzipped ? asset.gzipped : asset.body;
    response.setHeader('Content-Length', body.length);
    response.end(request.method === 'HEAD' ? undefined : body);
  };
