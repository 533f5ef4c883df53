#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const entry = new URL('../dist/guestlist.js', import.meta.url);
if (!existsSync(fileURLToPath(entry))) {
  console.error('guestlist: dist/ is not built yet; run "npm run build" (or "npm start", which builds it).');
  process.exit(1);
}
await import(entry.href);
