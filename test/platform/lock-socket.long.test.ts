/** The lock that needs no package, between real processes. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { LockHeld } from '../../src/platform/files/lock-held.js';
import { lockSocket } from '../../src/platform/files/lock-socket.js';
import { type Child, compileScript, type Script, startChild } from './child.js';

let script: Script;
let home: string;
let file: string;
const children: Child[] = [];
const hold = (at = file): Child => {
  const child = startChild(script, at);
  children.push(child);
  return child;
};

beforeAll(async () => {
  script = await compileScript(new URL('lock-holder.ts', import.meta.url));
});
afterAll(() => script.remove());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'guestlist-lock-'));
  file = join(home, 'gateway.lock');
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  await rm(home, { recursive: true });
});

it('is refused while another process holds it, and free from the moment that the process is killed', async () => {
  const holder = hold();
  expect(await holder.said(1)).toEqual(['held']);
  await expect(lockSocket(file)).rejects.toThrow(LockHeld);
  await holder.kill();
  const release = await lockSocket(file);
  // The name of the killed process is removed.
  expect(await readdir(home)).toHaveLength(1);
  await release();
  expect(await readdir(home)).toEqual([]);
});

it('is refused while its holder is stopped', async () => {
  const holder = hold();
  await holder.said(1);
  process.kill(holder.pid, 'SIGSTOP');
  await expect(lockSocket(file)).rejects.toThrow(LockHeld);
  process.kill(holder.pid, 'SIGCONT');
});

it('is held by exactly one of several that start at once, again and again', async () => {
  for (let round = 0; round < 5; round += 1) {
    const started = Array.from({ length: 6 }, () => hold());
    const said = await Promise.all(started.map(async (child) => (await child.said(1))[0]));
    expect(said.filter((line) => line === 'held')).toHaveLength(1);
    expect(said.filter((line) => line === 'LockHeld')).toHaveLength(5);
    for (const child of started) await child.kill();
  }
});

it('is held by at most one of several that find the names of killed processes', async () => {
  const dead = Array.from({ length: 3 }, (_, at) => hold(join(home, `${at}.lock`)));
  for (const child of dead) await child.said(1);
  for (const child of dead) await child.kill();
  const started = Array.from({ length: 3 }, (_, at) => [
    hold(join(home, `${at}.lock`)),
    hold(join(home, `${at}.lock`)),
  ]);
  for (const pair of started) {
    const said = await Promise.all(pair.map(async (child) => (await child.said(1))[0]));
    expect(said.toSorted()).toEqual(['LockHeld', 'held']);
  }
});

it.runIf(process.platform === 'linux')('works in a folder whose path is too long for a socket', async () => {
  const deep = join(home, 'a'.repeat(120));
  await mkdir(deep);
  const release = await lockSocket(join(deep, 'gateway.lock'));
  expect(await hold(join(deep, 'gateway.lock')).said(1)).toEqual(['LockHeld']);
  await release();
  expect(await readdir(deep)).toEqual([]);
});
