import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../suites/chromium.js';
import { typeDates } from '../suites/date-filter.js';
import { gate, startBench, textOf, until } from '../web/browser.js';
import { refusal } from '../web/fake-service.js';

describe.skipIf(!hasChromium())('the demo host page', { timeout: 60_000 }, () => {
  let bench: Awaited<ReturnType<typeof startBench>>;

  beforeAll(async () => {
    bench = await startBench();
  }, 60_000);
  afterAll(() => bench.close());
  beforeEach(() => {
    bench.service.control.override = () => undefined;
    bench.service.control.requests.length = 0;
  });

  const mints = () => bench.service.control.requests.filter(({ path }) => path === '/embed-token').length;

  it('logs in the user of its URL, and shows who that is and what they may see', async () => {
    const { page, complaints, close } = await bench.open('/demo?user=sfo-regional');
    await page.locator('guestlist-card .value').waitFor();
    const about = page.getByRole('complementary');
    expect(await textOf(about)).toContain('Kenji Mori');
    expect(await textOf(about)).toContain('Of those, only flights to CA');
    expect(await textOf(about.getByRole('listitem').filter({ hasText: 'The rows behind a chart' }))).toContain('✕');
    await about.getByText('Claims of this session').click();
    expect(JSON.parse(await textOf(about.locator('pre')))).toMatchObject({ org_id: 'SFO', region: 'CA' });
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows the gateway’s refusal unchanged', async () => {
    const { page, close } = await bench.open('/demo?user=lax-guest');
    await page.getByText('NO_POLICY').first().waitFor();
    expect(await textOf(page.getByRole('alert'))).toContain("You can't see these analytics.");
    expect(await page.locator('guestlist-dashboard').count()).toBe(0);
    expect(mints()).toBe(1);
    await close();
  });

  it('removes one user’s data before it shows the next user’s', async () => {
    const { page, close } = await bench.open('/demo?user=lax-manager&State=CA');
    await page.locator('guestlist-card .value').waitFor();
    const hold = gate();
    bench.service.control.override = async ({ path }) => {
      if (path === '/demo/login') await hold.opened;
      return undefined;
    };
    await page.getByLabel('Signed in as').selectOption('atl-analyst');
    await until(() => page.locator('guestlist-dashboard').count()).toBe(0);
    expect(await page.getByRole('complementary').count()).toBe(0);
    expect(await textOf(page.locator('main'))).not.toContain('LAX');
    hold.open();
    await page.getByRole('complementary').getByText('Grace Okafor').waitFor();
    await page.locator('guestlist-card .value').waitFor();
    const late = bench.service.control.requests
      .filter(({ path }) => path.startsWith('/api/'))
      .slice(-4)
      .map(({ authorization }) => authorization);
    expect(late.every((each) => each.startsWith('Bearer guest-ATL'))).toBe(true);
    expect(page.url()).toMatch(/\/demo\?user=atl-analyst$/);
    await close();
  });

  it('renews an expired token and keeps the filters', async () => {
    const { page, close } = await bench.open('/demo?user=lax-analyst');
    await page.locator('guestlist-card .value').waitFor();
    const first = bench.service.control.requests.find(({ authorization }) => authorization !== '')?.authorization;
    bench.service.control.override = ({ authorization }) =>
      authorization === first ? refusal('TOKEN_EXPIRED', 'The token has expired.', 401) : undefined;
    await typeDates(page, { from: '2001-06-01' });
    await page.getByRole('img', { name: /^Flights a day.*30 values from Jun 1, 2001/ }).waitFor();
    expect(mints()).toBe(2);
    expect(await page.getByText('Session expired').count()).toBe(0);
    await close();
  });

  it('shows the failure while the gateway is down, and retries with backoff', async () => {
    bench.service.control.override = ({ path }) =>
      path === '/embed-token'
        ? { ...refusal('UPSTREAM_UNAVAILABLE', 'The service is away.', 503), headers: { 'retry-after': '30' } }
        : undefined;
    const { page, close } = await bench.open('/demo?user=lax-analyst');
    await page.getByText('UPSTREAM_UNAVAILABLE: The service is away. Next try in 30 s.').waitFor();
    expect(mints()).toBe(1);
    await close();
  });
});
