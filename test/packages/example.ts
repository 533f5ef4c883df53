/** Runs an example as its README says, and looks at it in Chromium. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { blocksOfKind } from '../documents/blocks.js';
import { launchChromium } from '../suites/chromium.js';
import { placeFlights } from '../suites/flights.js';

export type Running = { readonly url: string; readonly stop: () => Promise<void> };

/** Runs the commands of the example's README in `home`, and resolves when the example says where it is. */
export const runExample = async (name: string, home: string, env: NodeJS.ProcessEnv = {}): Promise<Running> => {
  const [block] = blocksOfKind('example').filter(({ page }) => page === `examples/${name}/README.md`);
  if (block === undefined) throw new Error(`examples/${name}/README.md has no commands`);
  expect(block.text.trim().split('\n')).toHaveLength(2);
  await placeFlights(join(home, 'data/demo/flights.duckdb'));
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', block.text], {
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOST_PORT: '0', npm_config_prefer_offline: 'true', npm_config_audit: 'false', ...env },
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await closed;
  };
  let told = '';
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      told += String(chunk);
      // Next says "Local:".
      const [, found] = /(?:The example is at|Local:)\s+(http:\S+:[1-9]\d*)/.exec(told) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', (code) => reject(new Error(`the example ended with ${code}: ${told}`)));
  });
  return { url, stop };
};

/** Ann sees charts; Eve, without a role, gets a neutral message and no chart. `logIn` is for an example with a login. */
export const lookAtExample = async (url: string, logIn?: string): Promise<void> => {
  const browser = await launchChromium();
  try {
    const faults: string[] = [];
    const open = async (user: string) => {
      const page = await (await browser.newContext()).newPage();
      page.on('pageerror', (error) => faults.push(String(error)));
      await page.goto(logIn === undefined ? `${url}/?user=${user}` : url);
      if (logIn !== undefined) await page.locator(logIn.replace('USER', user)).click();
      return page;
    };
    const ann = await open('ann');
    await ann.locator('guestlist-chart canvas').first().waitFor({ timeout: 60_000 });
    const eve = await open('eve');
    await eve.locator('#message', { hasText: "You can't see these analytics." }).waitFor();
    expect(await eve.locator('guestlist-chart canvas').count()).toBe(0);
    expect(faults).toEqual([]);
  } finally {
    await browser.close();
  }
};
