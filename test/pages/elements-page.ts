/** A page with the elements and a scripted service, for each test of a file. A test must end without faults in the page. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { mount, startBench, textOf, until, violationsOf } from '../web/browser.js';
import type { Recorded } from '../web/fake-service.js';

type Bench = Awaited<ReturnType<typeof startBench>>;

export const useElements = () => {
  const on = {} as { bench: Bench; opened: Awaited<ReturnType<Bench['open']>>; page: Page };

  beforeAll(async () => {
    on.bench = await startBench();
  }, 60_000);
  afterAll(() => on.bench.close());

  beforeEach(async () => {
    on.bench.service.control.override = () => undefined;
    on.opened = await on.bench.open('/bare');
    on.page = on.opened.page;
    on.bench.service.control.requests.length = 0;
  });
  afterEach(async () => {
    const violations = await violationsOf(on.page);
    await on.opened.close();
    expect(violations).toEqual([]);
    expect(on.opened.complaints).toEqual([]);
  });

  const requests = (part: string): Recorded[] =>
    on.bench.service.control.requests.filter(({ path }) => path.includes(part));
  const showDashboard = async (token = 'guest-LAX-1', more: Record<string, string> = {}) => {
    await mount(on.page, 'guestlist-dashboard', { token, 'dashboard-id': 'delays--LAX', ...more });
    await settled();
  };
  const settled = () =>
    until(() => on.page.locator('guestlist-card section[aria-busy="false"]').count()).toBeGreaterThanOrEqual(4);
  const share = () => textOf(on.page.locator('guestlist-card .value'));
  const pick = async (state: string, where: Page | Locator = on.page) => {
    await where.getByRole('button', { name: /^State/ }).click();
    await where.locator('guestlist-multi-select').getByRole('option', { name: state, exact: true }).click();
    await on.page.keyboard.press('Escape');
  };

  const shoot = (name: string) =>
    process.env.TEST_SCREENSHOTS &&
    on.page.screenshot({ path: `${process.env.TEST_SCREENSHOTS}/elements-${name}.png` });
  return Object.assign(on, { requests, showDashboard, settled, share, pick, shoot });
};
