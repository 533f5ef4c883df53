import { fileURLToPath } from 'node:url';
import type { AssetFile } from './http/assets.js';

const web = (file: string): string => fileURLToPath(new URL(`web/${file}`, import.meta.url));

const script = 'text/javascript; charset=utf-8';

/** The host page runs its own scripts, and talks to its own origin. */
const demoPolicy =
  "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; img-src 'self' data:";

/** The browser's files, by the paths they are served at: the elements, and the demo's host page where it runs. */
export const assetFiles = (isDemo: boolean): Readonly<Record<string, AssetFile>> => ({
  '/elements.js': { file: web('elements.js'), contentType: script, isPublic: true },
  ...(isDemo
    ? {
        '/demo': { file: web('demo.html'), contentType: 'text/html; charset=utf-8', contentSecurityPolicy: demoPolicy },
        '/demo.js': { file: web('demo.js'), contentType: script },
        '/demo.css': { file: web('demo.css'), contentType: 'text/css; charset=utf-8' },
      }
    : {}),
});
