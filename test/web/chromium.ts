/** The browser for tests of elements and pages: `CHROMIUM_PATH`, or the usual paths. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const chromiumPath = places.find((path) => path !== undefined && path !== '' && existsSync(path));

/** Whether a browser was found. Without one, browser tests are skipped with a warning. @throws under CI. */
export const hasChromium = (): boolean => {
  if (chromiumPath !== undefined) return true;
  if (process.env.CI) throw new Error('No Chromium found, which CI must have: install it or set CHROMIUM_PATH.');
  console.warn('SKIPPED: the tests of elements and pages need Chromium. Install it or set CHROMIUM_PATH.');
  return false;
};

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
