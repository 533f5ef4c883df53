/**
 * The documentation at /docs, as the build made it: files that are compressed already, each at one path of a list. Nothing
 * is read before a page is asked for, so that a start pays nothing.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { handled } from '../../../model/handled.js';
import type { Step } from '../wire/in-turn.js';
import { pathOf } from '../wire/request.js';
import { flat, send } from '../wire/sending.js';
import { acceptsGzip } from './assets.js';

type Listed = Readonly<Record<string, { readonly file: string; readonly contentType: string }>>;

/** Pages run the script of the search and read its index, both of the own origin. */
const contentSecurityPolicy = [
  "default-src 'none'",
  ...['script-src', 'connect-src', 'style-src', 'font-src', 'img-src'].map((directive) => `${directive} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((directive) => `${directive} 'none'`),
].join('; ');

/** Serves the files of the folder that the build made, and calls `next` for every other path. */
export const serveDocuments = (folder: string): Step => {
  let listing: Promise<Listed> | undefined;
  const list = (): Promise<Listed> => {
    listing ??= handled(readFile(join(folder, 'manifest.json'), 'utf8').then((text) => JSON.parse(text) as Listed));
    return listing;
  };
  return async (request, response, next) => {
    const listed = await list();
    const path = pathOf(request);
    const found = Object.hasOwn(listed, path) ? listed[path] : undefined;
    if (found === undefined) return next();
    const compressed = await readFile(join(folder, found.file));
    const isCompressed = acceptsGzip(request.headers['accept-encoding']);
    const headers = flat({
      'Content-Type': found.contentType,
      'Content-Security-Policy': contentSecurityPolicy,
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
    return send(response, {
      status: 200,
      headers,
      body: isCompressed ? compressed : await promisify(gunzip)(compressed),
    });
  };
};
