/** Studio of the built product, over HTTP and in the browser, for its test files. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { post, request } from './guest.js';
import { type Product, runToEnd } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

export const codeIn = (text: string): string => /#code=([\w-]+)/.exec(text)?.[1] ?? '';

export type Session = { readonly cookie: string; readonly change: string };

/** Logs in, and calls Studio, of the product that runs when they are called. */
export const studioOf = (product: () => Product) => ({
  logIn: async (code: string): Promise<Session> => {
    const answer = await post<{ data: { changeToken: string } }>(`${product().url}/studio/session`, { code });
    if (answer.status !== 200) throw new Error(`the login answered ${answer.status}: ${answer.text}`);
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', change: answer.body.data.changeToken };
  },
  newLink: async (): Promise<string> => {
    const env = { GUESTLIST_DATA_DIR: product().dataDir };
    const { code, output } = await runToEnd(['studio-link', '--url', product().url], env);
    if (code !== 0) throw new Error(output);
    return output.trim();
  },
  studio: <T>({ cookie, change }: Session, path: string, body: unknown) =>
    request<T>(`${product().url}/studio${path}`, {
      method: 'POST',
      headers: { cookie, 'x-guestlist-change': change, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
});

/** Opens a page that is logged in. `faults`: errors of scripts, of the console, and requests to other origins. */
export const openStudioPage = async (browser: Browser, { url }: Product, link: string) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on(
    'console',
    (message) => message.type() === 'error' && faults.push(`${message.text()} ${message.location().url}`),
  );
  page.on('request', (asked) => new URL(asked.url()).origin === url || faults.push(asked.url()));
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { context, page, faults };
};

/** What axe finds on the page. */
export const violationsOf = async (page: Page): Promise<readonly (readonly [string, readonly string[]])[]> => {
  await page.evaluate(axe);
  return page.evaluate(
    'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
  );
};

/** Keeps pictures of the page in the folder TEST_SCREENSHOTS, if it is set. */
export const shootPage = async (page: Page, name: string): Promise<void> => {
  if (screenshots === undefined) return;
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${screenshots}/studio-${name}-${scheme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1440, height: 900 });
};

/** Adds something to the dashboard by the menu of its bar. */
export const addByMenu = async (page: Page, title: string): Promise<void> => {
  await page.locator('summary', { hasText: /^Add$/ }).press('Enter');
  await page.getByRole('list', { name: 'Add' }).getByText(title, { exact: true }).press('Enter');
};

/** Chooses a user by the dialog, as whom the page then reads. */
export const chooseUser = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^View as/ }).click();
  const dialog = page.getByRole('dialog', { name: 'View as a tenant’s user' });
  await dialog.getByText('Advanced').click();
  await dialog.getByRole('combobox', { name: 'Tenant' }).fill('LAX');
  await dialog.getByRole('textbox', { name: /^User/ }).fill('lena');
  await dialog.getByRole('textbox', { name: /^roles/ }).fill('analyst');
  await shootPage(page, 'view-as');
  await page.getByRole('button', { name: 'View as this user' }).click();
};
