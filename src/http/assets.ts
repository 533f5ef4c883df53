import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type AssetFile = {
  readonly file: string;
  readonly contentType: string;
  /** Pages of other origins may load it. */
  readonly isPublic?: boolean;
  /** In place of the app's own policy, which allows no script. */
  readonly contentSecurityPolicy?: string;
};

type Asset = AssetFile & { readonly etag: string; readonly body: Buffer; readonly gzipped: Buffer };
export type Assets = ReadonlyMap<string, Asset>;

const load = async (path: string, asset: AssetFile): Promise<[string, Asset]> => {
  const body = await readFile(asset.file).catch((cause: unknown) => {
    throw new Error(`The file for ${path} cannot be read: ${asset.file}. Run the build first.`, { cause });
  });
  // Weak: the compressed form carries it as well.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  return [path, { ...asset, body, etag, gzipped: await promisify(gzip)(body, { level: 9 }) }];
};

/** Reads the files once, by the paths that they are served at. Throws where one is missing. */
export const loadAssets = async (files: Readonly<Record<string, AssetFile>>): Promise<Assets> =>
  new Map(await Promise.all(Object.entries(files).map(([path, asset]) => load(path, asset))));

const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === etag.slice(2));

const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  (acceptEncoding ?? '').split(',').some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(coding));

const headersOf = ({ contentType, etag, isPublic, contentSecurityPolicy }: Asset) => ({
  'Content-Type': contentType,
  ETag: etag,
  'Cache-Control': 'public, max-age=300',
  Vary: 'Accept-Encoding',
  ...(isPublic ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' } : {}),
  ...(contentSecurityPolicy === undefined ? {} : { 'Content-Security-Policy': contentSecurityPolicy }),
});

const pathOf = ({ url = '' }: IncomingMessage): string => url.replace(/[?#].*$/, '');

/** Serves fixed files, and calls `next` for every other path. Uses Node's own request and response, so it works outside of an Express app too. */
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
