/** The browser for tests of elements and pages: `CHROMIUM_PATH`, or the usual paths. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { madeOnce, runner } from './run-folder.js';

const given = process.env.CHROMIUM_PATH;
const whole = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const find = (places: readonly string[]) => (given === undefined || given === '' ? places.find(existsSync) : given);

/** The browser for pages of tests. The shell without windows does the same with less work; letters look a little different. */
export const chromiumPath = find(['/usr/bin/chromium-headless-shell', ...whole]);

/** The browser that users have, and that the product draws with. */
export const rendererPath = find(whole);

/** Whether a browser was found. Without one, browser tests are skipped with a warning. @throws under CI. */
export const hasChromium = (): boolean => {
  if (chromiumPath !== undefined) return true;
  if (process.env.CI) throw new Error('No Chromium found, which CI must have: install it or set CHROMIUM_PATH.');
  console.warn('SKIPPED: the tests of elements and pages need Chromium. Install it or set CHROMIUM_PATH.');
  return false;
};

/** Starts the browser of the run, and writes its address to the file. */
const startServer = async (file: string): Promise<void> => {
  const script = fileURLToPath(new URL('chromium-server.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, String(chromiumPath), String(runner())], {
    detached: true,
    // A stream of this worker would keep the run waiting for the browser.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`Chromium at ${chromiumPath} did not start`))),
  ]);
  child.unref();
  child.stdout.destroy();
  await writeFile(file, String(line).trim());
};

/** Starts a browser as users have it, for pictures that are compared. */
export const launchWhole = (): Promise<Browser> =>
  chromium.launch({ executablePath: rendererPath ?? '', args: ['--no-sandbox', '--headless', '--disable-gpu'] });

/** Connects to the browser that all files of the run share. Its contexts and pages belong to this connection. */
export const launchChromium = async (): Promise<Browser> =>
  chromium.connect(await readFile(await madeOnce('chromium', startServer), 'utf8'));
