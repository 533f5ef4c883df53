import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

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

/** Serves fixed files; what it does not know goes on to the next handler. */
export const serveAssets =
  (assets: Assets): RequestHandler =>
  (req, res, next) => {
    const asset = req.method === 'GET' || req.method === 'HEAD' ? assets.get(req.path) : undefined;
    if (asset === undefined) {
      next();
      return;
    }
    res.set(headersOf(asset));
    if (isUnchanged(req.headers['if-none-match'], asset.etag)) {
      res.status(304).end();
      return;
    }
    const isGzipped = acceptsGzip(req.headers['accept-encoding']);
    if (isGzipped) res.setHeader('Content-Encoding', 'gzip');
    const body = isGzipped ? asset.gzipped : asset.body;
    res.setHeader('Content-Length', body.length);
    res.end(req.method === 'HEAD' ? undefined : body);
  };
