/** One browser and one service for a test file, a new page for each test. A test must end without errors in the page. */
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchChromium } from '../suites/chromium.js';
import { startFakeService } from './fake-service.js';
import { openFlights } from './flights.js';

export type Seen = { readonly name: string; readonly detail: Readonly<Record<string, unknown>> };

export const startBench = async () => {
  const flights = await openFlights();
  const service = await startFakeService(flights);
  const browser: Browser = await launchChromium();
  const open = async (path: string) => {
    const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, locale: 'en-US' });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      const isOwn = message.type() === 'error' && !message.text().startsWith('Failed to load resource');
      if (isOwn) complaints.push(message.text());
    });
    await page.goto(service.url + path);
    return { page, complaints, close: () => context.close() };
  };
  const close = async () => {
    await browser.close();
    await service.close();
    flights.close();
  };
  return { flights, service, open, close };
};

export const mount = (page: Page, tag: string, attributes: Readonly<Record<string, string>>): Promise<void> =>
  page.evaluate(`host.mount(${JSON.stringify(tag)}, ${JSON.stringify(attributes)})`);

export const setAttribute = (page: Page, selector: string, name: string, value: string | null): Promise<void> =>
  page.evaluate(`host.set(${JSON.stringify(selector)}, ${JSON.stringify(name)}, ${JSON.stringify(value)})`);

export const seenBy = (page: Page): Promise<readonly Seen[]> => page.evaluate('host.events');
export const violationsOf = (page: Page): Promise<readonly string[]> => page.evaluate('host.violations');

/** A promise and the function that resolves it. */
export const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { opened, open: () => open() };
};

/** `expect.poll` with a long timeout, for busy machines. */
export const until = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 15_000, interval: 25 });

export const textOf = async (locator: Locator): Promise<string> => ((await locator.textContent()) ?? '').trim();
