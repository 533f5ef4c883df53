/** A publisher schedules a report to all tenants in Studio of the built product, and a tenant's user gets what was chosen. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasChromium, launchChromium } from '../suites/chromium.js';
import { until } from '../web/browser.js';
import { get, post } from './guest.js';
import { type Mailing, startMailing } from './mailing.js';
import { runToEnd } from './product.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const screenshots = process.env.TEST_SCREENSHOTS;

describe.skipIf(!hasChromium())('reports to all tenants in Studio', { timeout: 120_000 }, () => {
  let mailing: Mailing;
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];
  beforeAll(async () => {
    [mailing, browser] = await Promise.all([startMailing({ isOwnOrigin: true }), launchChromium()]);
    const link = ['studio-link', '--url', mailing.product.url];
    const { code, output } = await runToEnd(link, { GUESTLIST_DATA_DIR: mailing.dataDir });
    if (code !== 0) throw new Error(output);
    page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' })).newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(output.trim());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await mailing?.close();
  });

  const violations = async (): Promise<unknown> => {
    await page.evaluate(axe);
    return page.evaluate(
      'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
    );
  };
  const shoot = async (name: string): Promise<void> => {
    if (screenshots === undefined) return;
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: `${screenshots}/tenant-reports-${name}-${scheme}-${width}.png` });
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
  };
  const fits = async (dialog: Locator): Promise<void> => {
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  };
  type Report = { readonly dashboardFilter: object; readonly metricIds: readonly string[] | null };
  const stored = async (): Promise<Report | undefined> => {
    const url = `${mailing.product.url}/api/v2/data-app/schedules`;
    return (await get<{ data: readonly Report[] }>(url, mailing.credentials.demoApiKey)).body.data[0];
  };

  test('a publisher chooses metrics and filters, and each refusal is at its field', async () => {
    const { product, mailbox } = mailing;
    const { token, embeds } = await mailing.logIn('max');
    await page.goto(`${product.url}/studio/tenant-reports`);
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report to all tenants' });
    const field = (name: string | RegExp) => dialog.getByLabel(name);
    await field(/^Name/).fill('Each week');
    await field('Template').selectOption({ label: 'Delays' });
    await field('Format').selectOption('csv');
    await field('Only some charts').check();
    await field(/^Destination state/).fill('CA\nNV');
    await field(/^Date/).fill('someday');
    await field('Time zone').fill('Nowhere');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    const fault = (text: string | RegExp) => dialog.getByRole('alert').getByText(text);
    // The shape of the request is checked first.
    await fault(/^Too small|at least|expected/i)
      .first()
      .waitFor();
    const metric = dialog.getByRole('group', { name: 'Charts' }).getByRole('checkbox').nth(1);
    await metric.check();
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await until(() => field('Time zone').getAttribute('aria-invalid')).toBe('true');
    await field('Time zone').fill('UTC');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await until(() => field(/^Roles/).getAttribute('aria-invalid')).toBe('true');
    await field(/^Users/).fill('guestlist-demo|max');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await until(() => field(/^Date/).getAttribute('aria-invalid')).toBe('true');
    expect(await field(/^Date/).evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await shoot('dialog');
    expect(await violations()).toEqual([]);
    await fits(dialog);
    await field(/^Date/).fill('');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const report = await stored();
    expect(report).toMatchObject({ dashboardFilter: { 'Destination state': ['CA', 'NV'] } });
    expect(report?.metricIds).toHaveLength(1);

    await page.getByRole('link', { name: 'Each week' }).click();
    await page.getByText('Destination state: CA, NV').waitFor();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).click();
    await vi.waitFor(() => expect(mailbox.received).toHaveLength(1), { timeout: 60_000, interval: 200 });
    const [board] = embeds;
    type Metrics = { data: { metrics: readonly { metricId: string; name: string }[] } };
    const { data } = (await get<Metrics>(`${product.url}/api/v2/guest/dashboards/${board?.id}`, token)).body;
    const files = mailbox.received[0]?.mail.attachments ?? [];
    expect(files).toHaveLength(1);
    const own = data.metrics.find(({ name }) => files[0]?.filename === `${name}.csv`);
    const asked = { dashboardId: board?.id, dashboardFilter: { 'Destination state': ['CA', 'NV'] } };
    const expected = await post(`${product.url}/api/v2/guest/metrics/${own?.metricId}/csv`, asked, token);
    expect(files[0]?.content.toString()).toBe(expected.text);
  });

  test('a mail is seen before it is saved, as one of the recipients gets it, and nothing is sent', async () => {
    const { product, mailbox } = mailing;
    await mailing.logIn('mia', { locale: 'de' });
    const before = mailbox.received.length;
    await page.goto(`${product.url}/studio/tenant-reports`);
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report to all tenants' });
    await dialog.getByText('None of the recipients above was here lately.').waitFor();
    await dialog.getByLabel(/^Name/).fill('Seen before');
    await dialog.getByLabel('Template').selectOption({ label: 'Delays' });
    await dialog.getByLabel('Format').selectOption('png');
    await dialog.getByLabel(/^Users/).fill('guestlist-demo|mia');
    const readers = dialog.getByRole('combobox', { name: 'As', exact: true });
    await until(() => readers.locator('option').allTextContents()).toEqual([
      expect.stringMatching(/^mia@customer\.example, manager at /),
    ]);
    await dialog.getByRole('button', { name: 'Show the mail' }).click();
    const mail = dialog.getByRole('region', { name: 'Preview' });
    await mail.getByText(/^As mia@customer\.example, manager at .* would get it now/).waitFor({ timeout: 90_000 });
    await mail.getByRole('heading', { name: /^Seen before/ }).waitFor();
    const body = mail.getByRole('document');
    expect(await body.locator('[lang="de"]').count()).toBe(1);
    expect(await body.locator('img[src^="data:image/png"]').count()).toBeGreaterThan(0);
    await mail.scrollIntoViewIfNeeded();
    await shoot('preview');
    expect(await violations()).toEqual([]);
    await fits(dialog);
    // What is changed is not what is seen.
    await dialog.getByLabel(/^Name/).fill('Changed');
    expect(await mail.count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(mailbox.received).toHaveLength(before);
    expect(await page.getByText('Seen before').count()).toBe(0);
  });

  test('a person without access to data sees no mail of a user, and asks for none', async () => {
    const asked: string[] = [];
    await page.route('**/studio/session', async (route) => {
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: { person: object } };
      const person = { ...data.person, seesData: false };
      await route.fulfill({ response: answer, json: { data: { ...data, person } } });
    });
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${mailing.product.url}/studio/tenant-reports`);
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report to all tenants' });
    await dialog.getByLabel(/^Users/).fill('guestlist-demo|mia');
    expect(await dialog.getByText('Preview').count()).toBe(0);
    expect(asked.filter((url) => /viewers-list|report-preview/.test(url))).toEqual([]);
    await page.unroute('**/studio/session');
    await page.reload();
  });

  test('what is changed shows what was chosen, and a link has neither metrics nor filters', async () => {
    await page.goto(`${mailing.product.url}/studio/tenant-reports`);
    await page.getByRole('link', { name: 'Each week' }).click();
    await page.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the report' });
    const field = (name: string | RegExp) => dialog.getByLabel(name);
    await until(() => field(/^Destination state/).inputValue()).toBe('CA\nNV');
    expect(await dialog.getByRole('group', { name: 'Charts' }).getByRole('checkbox', { checked: true }).count()).toBe(
      2,
    );
    await field('Format').selectOption('link');
    expect(await field(/^Destination state/).count()).toBe(0);
    await field('Format').selectOption('xlsx');
    await field('Only some charts').uncheck();
    await field(/^Destination state/).fill('NY');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ dashboardFilter: { 'Destination state': ['NY'] }, metricIds: null });
    await shoot('report');
    expect(errors).toEqual([]);
  });

  test('a publisher makes an alert, which is checked with the rows of the tenant’s user', async () => {
    const { product, mailbox } = mailing;
    const before = mailbox.received.length;
    const { token, embeds } = await mailing.logIn('max');
    await page.goto(`${product.url}/studio/tenant-reports`);
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report to all tenants' });
    const field = (name: string | RegExp) => dialog.getByLabel(name);
    await field(/^Name/).fill('Few flights');
    await field('Template').selectOption({ label: 'Delays' });
    await field('Format').selectOption('alert');
    await field('Chart').selectOption({ label: 'Flights a day' });
    await field('Tell if it').selectOption('changeBelow');
    await field('Percent').fill('20');
    await field('Compared with').selectOption('previousPeriod');
    await field('Check').selectOption('hour');
    await field('Quiet hours').check();
    await dialog.getByLabel('To', { exact: true }).fill('22:00');
    await field(/^Users/).fill('guestlist-demo|max');
    await field(/^Channel/).fill('ops');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await until(() => field(/^Channel/).getAttribute('aria-invalid')).toBe('true');
    await dialog.getByText('expected null: the configuration has no channels').waitFor();
    await field(/^Channel/).fill('');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await until(() => dialog.getByLabel('From', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await shoot('alert');
    expect(await violations()).toEqual([]);
    await fits(dialog);
    await field('Quiet hours').uncheck();
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Few flights' }).click();
    await page.getByText(/falls by more than 20 %, compared with the period before/).waitFor();
    await page.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change the report' });
    await until(() => change.getByLabel('Percent').inputValue()).toBe('20');
    expect(await change.getByLabel('Format').locator('option').allInnerTexts()).toEqual(['Alert']);
    await change.getByLabel('Tell if it').selectOption('below');
    await change.getByRole('spinbutton', { name: 'Value' }).fill('1000000');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send now' }).click();
    await vi.waitFor(() => expect(mailbox.received).toHaveLength(before + 1), { timeout: 60_000, interval: 200 });
    const mail = mailbox.received.at(-1)?.mail;
    expect(mail?.subject).toBe('Alert: Few flights: Delays');
    const [board] = embeds;
    type Metrics = { data: { metrics: readonly { metricId: string; name: string }[] } };
    const { data } = (await get<Metrics>(`${product.url}/api/v2/guest/dashboards/${board?.id}`, token)).body;
    const own = data.metrics.find(({ name }) => name === 'Flights a day');
    const query = `${product.url}/api/v2/guest/metrics/${own?.metricId}/query`;
    const answer = await post<{ data: readonly Record<string, number>[] }>(query, { dashboardId: board?.id }, token);
    const latest = answer.body.data.toSorted((one, other) =>
      String(Object.values(other)[0]).localeCompare(String(Object.values(one)[0])),
    )[0];
    expect(mail?.text).toContain(`is ${latest?.Flights}`);
    expect(errors).toEqual([]);
  });
});
