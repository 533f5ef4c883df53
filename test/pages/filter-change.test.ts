/** A change of a filter: what was shown stays until the new data are there, and nothing moves. */
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { gate, until } from '../web/browser.js';
import { dashboards } from '../web/fixtures.js';
import { useElements } from './elements-page.js';

/** Notes every layout shift of the page, also those right after an input. */
const watchShifts = `window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      for (const { previousRect: a, currentRect: b } of sources)
        window.shifts.push([value, a.x, a.y, a.width, a.height, '→', b.x, b.y, b.width, b.height].join(' '));
  }).observe({ type: 'layout-shift', buffered: false })`;

describe.skipIf(!hasChromium())('a change of a filter', { timeout: 60_000 }, () => {
  const on = useElements();

  const cards = () => on.page.locator('guestlist-card');
  const heights = () =>
    cards().evaluateAll((all) => all.map((card) => (card as unknown as { offsetHeight: number }).offsetHeight));
  const shifts = () =>
    on.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifts))))',
    );
  /** Holds back all answers of metrics from now on. */
  const hold = () => {
    const held = gate();
    on.bench.service.control.override = async ({ path }) => {
      if (path.includes('/guest/')) await held.opened;
      return undefined;
    };
    return held;
  };
  const setFilter = (states: string) =>
    on.page.evaluate(
      `document.querySelector('guestlist-dashboard').setFilters(${states} === undefined ? {} : { State: ${states} })`,
    );
  /** A dashboard on which a mark of any chart filters all other charts. */
  const withMarks = () => {
    const made = dashboards('LAX')['delays--LAX'];
    if (made === undefined) throw new Error('no dashboard');
    const ids = made.metrics.map(({ metricId }) => metricId);
    const metrics = made.metrics.map((metric) => {
      const { dimensions } = metric.chart;
      const crossFilters = Object.fromEntries(
        dimensions.map((name) => [name, ids.filter((id) => id !== metric.metricId)]),
      );
      return { ...metric, chart: { ...metric.chart, isDrillable: false, crossFilters } };
    });
    const answer = { body: { data: { ...made, metrics }, error: null } };
    on.bench.service.control.override = ({ path }) => (path.endsWith('/dashboards/delays--LAX') ? answer : undefined);
  };
  const dimmed = () => on.page.locator('guestlist-card .stale').count();

  for (const [width, height] of [
    [1280, 1600],
    [390, 2600],
  ] as const) {
    const begin = async () => {
      await on.page.setViewportSize({ width, height });
      await on.showDashboard();
      await on.page.evaluate(watchShifts);
      return heights();
    };

    it(`keeps the old picture, dimmed, until the new one is there, and moves nothing at ${width} px`, async () => {
      const before = await begin();
      const held = hold();
      await setFilter("['CA']");
      await until(dimmed).toBe(await cards().count());
      expect(await on.page.locator('guestlist-card .skeleton').count()).toBe(0);
      expect(await heights()).toEqual(before);
      held.open();
      await until(dimmed).toBe(0);
      await on.settled();
      expect(await heights()).toEqual(before);
      await setFilter('undefined');
      await until(() => cards().first().locator('.body').getAttribute('class')).toBe('body');
      await on.settled();
      expect(await shifts()).toEqual([]);
    });

    it(`moves nothing when a mark filters the other charts at ${width} px`, async () => {
      withMarks();
      const before = await begin();
      const chart = on.page.getByRole('application').first();
      await chart.focus();
      await on.page.keyboard.press('Home');
      await on.page.keyboard.press('Enter');
      const menu = on.page.getByRole('menuitem', { name: 'Filter the other charts' });
      await menu.click();
      await on.page.getByRole('group', { name: 'Filters from charts' }).getByRole('button').waitFor();
      await until(dimmed).toBe(0);
      await on.settled();
      expect(await heights()).toEqual(before);
      expect(await shifts()).toEqual([]);
    });
  }

  it('changes at once for a reader who wants no motion', async () => {
    const durations = () =>
      on.page.evaluate(
        "[...document.querySelector('guestlist-dashboard').renderRoot.querySelectorAll('guestlist-card')].map((card) => getComputedStyle(card.renderRoot.querySelector('.body')).transitionDuration)",
      ) as Promise<string[]>;
    await on.showDashboard();
    expect(new Set(await durations())).toEqual(new Set(['0.15s']));
    await on.page.emulateMedia({ reducedMotion: 'reduce' });
    expect(new Set(await durations())).toEqual(new Set(['0s']));
  });
});
