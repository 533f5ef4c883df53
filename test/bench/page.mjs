// What a reader's browser does: the demo against the same charts from inline data, requests of 21 cards, a table of 10,000 rows, 50,000
// points, layout shift on a phone, and the heap over 500 changes of a filter. `npm run bench -- page [--only NAME]`; needs Chromium
// (CHROMIUM_PATH). BENCH_BEFORE=FOLDER, a built checkout of an earlier version, is measured in turns with this one.
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { openDashboards, startHost } from './page-host.mjs';
import { drawnScript, recordShifts, scenarios } from './page-scenarios.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const { values: options } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const folders = { now: root, ...(process.env.BENCH_BEFORE ? { before: resolve(process.env.BENCH_BEFORE) } : {}) };

const browserPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

/** Starts the product of a checkout. `stops` gets what ends it, also if the rest fails. */
const startVersion = async (name, checkout, dataDir, stops) => {
  const product = await launch([process.execPath, join(checkout, 'bin/guestlist.mjs'), 'serve'], { dataDir });
  stops.push(() => product.stop());
  const token = await openDashboards(product.url, await credentialsIn(dataDir));
  const host = await startHost(product.url, token);
  stops.push(() => host.close());
  return { name, product, host };
};

/** Opens a page in a browser context of its own and gives it to `work`, with a session of the browser's own protocol. */
const visitor = (viewport) => async (work) => {
  const context = await browser.newContext({ viewport, locale: 'en-US', reducedMotion: 'reduce' });
  try {
    await context.addInitScript(drawnScript);
    await context.addInitScript(recordShifts);
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    return await work(page, await context.newCDPSession(page));
  } finally {
    await context.close();
  }
};

const format = (value) =>
  value === undefined ? '' : value instanceof Error ? 'failed' : Number(value.toPrecision(4)).toLocaleString('en-US');

const measure = async (versions, scenario) => {
  const found = new Map();
  for (let round = 0; round < (scenario.rounds ?? rounds); round += 1) {
    for (const version of versions) {
      const figures = await scenario.run(version, visitor(scenario.viewport ?? { width: 1280, height: 900 }));
      for (const [figure, value] of Object.entries(figures)) {
        const key = JSON.stringify([figure, version.name]);
        found.set(key, [...(found.get(key) ?? []), value]);
      }
    }
  }
  const names = [...new Set([...found.keys()].map((key) => JSON.parse(key)[0]))];
  for (const figure of names) {
    const cells = versions.map(({ name }) => {
      const values = found.get(JSON.stringify([figure, name]));
      return values === undefined ? '' : format(median(values));
    });
    console.log(`| ${scenario.name}: ${figure} | ${cells.join(' | ')} | ${scenario.marks?.[figure] ?? ''} |`);
  }
};

const runIn = async (dataDirs) => {
  const versions = [];
  const stops = [];
  try {
    for (const [index, [name, checkout]] of Object.entries(folders).entries()) {
      versions.push(await startVersion(name, checkout, dataDirs[index], stops));
    }
    console.log(`\n${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}, ${browser.version()}`);
    console.log(`\n| figure | ${versions.map(({ name }) => name).join(' | ')} | mark |`);
    console.log(`|---|${versions.map(() => '---|').join('')}---|`);
    for (const scenario of scenarios) {
      if (options.only === undefined || options.only === scenario.name) await measure(versions, scenario);
    }
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

try {
  await inTemporaryFolder((first) => inTemporaryFolder((second) => runIn([first, second])));
} finally {
  await browser.close();
}
