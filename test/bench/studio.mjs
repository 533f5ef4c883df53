// Studio in a browser: the bytes of its first page, the time from a click on a field to the drawn preview, and the frames while a card is
// dragged over a dashboard of 40. `npm run bench -- studio`; needs Chromium (CHROMIUM_PATH).
import { cpus } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const browserPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const workspaceName = 'flights';

const call = async (url, credentials, method, path, body) => {
  const headers = { authorization: `Bearer ${credentials.serviceToken}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/v2/${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

/** A template of 40 cards, each a copy of the first metric of the demo. */
const makeBoard = async (url, credentials) => {
  const query = new URLSearchParams({ workspaceName, dashboardId: 'delays' });
  const { data } = await call(url, credentials, 'GET', `data-app/dashboards/content?${query}`);
  const [first] = data.metrics;
  const metrics = Array.from({ length: 40 }, (_, at) => ({
    ...first,
    metricId: `m${at}`,
    name: `Metric ${at}`,
    lineage: [],
  }));
  const layout = metrics.map(({ metricId }, at) => ({
    metricId,
    x: (at % 4) * 3,
    y: Math.floor(at / 4) * 4,
    w: 3,
    h: 4,
  }));
  const importDashboardData = { version: 3, layout, filters: [], metrics, gridMargin: [8, 8] };
  await call(url, credentials, 'POST', 'data-app/import-dashboard', {
    workspaceName,
    dashboardId: 'forty',
    importDashboardData,
  });
};

/** The bytes of everything that the first page loads, as gzip sends them. */
const firstLoad = async (page, link) => {
  const sizes = [];
  const noted = page.waitForLoadState('networkidle');
  const count = async (response) => {
    if (response.status() === 200 && /\.(js|css)$|\/studio$/.test(new URL(response.url()).pathname))
      sizes.push(gzipSync(await response.body()).length);
  };
  page.on('response', count);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await noted;
  await page.waitForTimeout(500);
  page.off('response', count);
  return sizes.reduce((sum, size) => sum + size, 0);
};

const chooseViewer = (page) =>
  page.evaluate(() =>
    sessionStorage.setItem(
      'guestlist-studio-viewer',
      JSON.stringify({ clientId: 'LAX', claims: { sub: 'lena', org_id: 'LAX', roles: ['analyst'] } }),
    ),
  );

/** Milliseconds from a click on a field to the drawn chart, which every other click removes again. */
const previewTimes = async (page, url) => {
  await page.goto(`${url}/studio/dashboards/delays?tab=new`);
  const editor = page.locator('guestlist-editor');
  await editor.getByRole('button', { name: 'Distance in miles', exact: true }).click();
  const settled = editor.locator('guestlist-card section[aria-busy="false"]');
  await settled.waitFor();
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const answered = page.waitForResponse((response) => response.url().endsWith('/metric-preview'));
    const started = performance.now();
    await editor.getByRole('button', { name: 'Split by Destination', exact: true }).click();
    await answered;
    await settled.waitFor();
    times.push(performance.now() - started);
    await editor.getByRole('button', { name: 'Remove Destination', exact: true }).click();
    await settled.waitFor();
  }
  return times;
};

/** Milliseconds between frames while the first card is dragged to and fro. */
const frameTimes = async (page, url) => {
  await page.goto(`${url}/studio/dashboards/forty?tab=arrange`);
  const card = page.locator('.tile').first();
  await card.waitFor();
  const box = await card.boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.evaluate(() => {
    window.frames = [];
    let last = performance.now();
    const note = (now) => {
      window.frames.push(now - last);
      last = now;
      window.noting = requestAnimationFrame(note);
    };
    window.noting = requestAnimationFrame(note);
  });
  for (let step = 0; step < 120; step += 1)
    await page.mouse.move(box.x + 20 + (step % 60) * 12, box.y + 20 + (step % 40) * 8);
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(window.noting);
    return window.frames.slice(1);
  });
  await page.mouse.up();
  return frames;
};

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

await inTemporaryFolder(async (dataDir) => {
  const product = await launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'], { dataDir });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const credentials = await credentialsIn(dataDir);
    await makeBoard(product.url, credentials);
    const page = await (
      await browser.newContext({ viewport: { width: 1440, height: 1000 }, locale: 'en-US' })
    ).newPage();
    const { url: link } = (
      await (
        await fetch(`${product.url}/gateway/admin/studio-link`, {
          method: 'POST',
          headers: { authorization: `Bearer ${credentials.gatewayToken}`, 'content-type': 'application/json' },
          body: '{}',
        })
      ).json()
    ).data;
    const bytes = await firstLoad(page, link);
    await chooseViewer(page);
    const previews = await previewTimes(page, product.url);
    const frames = await frameTimes(page, product.url);
    console.log(`Node ${process.version}, ${cpus().length} cores, ${rounds} rounds\n`);
    console.log('| Studio | value | mark |\n|---|---|---|');
    console.log(`| first page, gzip | ${(bytes / 1024).toFixed(1)} KiB | at most 150 |`);
    console.log(`| click on a field to the drawn preview, median | ${median(previews).toFixed(0)} ms | under 300 |`);
    console.log(`| the same, 95th percentile | ${percentile(previews, 0.95).toFixed(0)} ms | |`);
    console.log(`| frame while a card of 40 is dragged, median | ${median(frames).toFixed(1)} ms | 16.7 |`);
    console.log(`| the same, 95th percentile | ${percentile(frames, 0.95).toFixed(1)} ms | |`);
  } finally {
    await browser.close();
    await product.stop();
  }
});
