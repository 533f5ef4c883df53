/** `guestlist audit verify --file` verifies an exported audit without a gateway. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AuditEntry, entryOf, genesisHash, lineOf } from '../../src/gateway/audit/chain.js';
import { runCli } from './in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-audit-'));
const write = (name: string, lines: readonly string[]): string => {
  const file = join(folder, name);
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
};

const chainOf = (...codes: string[]): readonly AuditEntry[] => {
  const entries: AuditEntry[] = [];
  for (const code of codes) {
    const prev = entries.at(-1)?.hash ?? genesisHash;
    entries.push(entryOf({ seq: entries.length + 1, at: '2026-01-01T00:00:00.000Z', kind: 'admin', code, prev }));
  }
  return entries;
};
const chain = chainOf('A', 'B', 'C');
const lines = chain.map((entry) => lineOf(entry));
const headAt = (entries: readonly AuditEntry[], seq: number): string => `${seq}:${entries[seq - 1]?.hash}`;

const run = async (...args: string[]) => {
  const { code, out, err } = await runCli(['audit', ...args]);
  return { code, output: out + err };
};

it('ends with 0 for a whole file, and gives the head to keep', async () => {
  const file = write('whole.jsonl', lines);
  expect(await run('verify', '--file', file)).toMatchObject({
    code: 0,
    output: expect.stringContaining(headAt(chain, 3)),
  });
  for (const seq of [1, 2, 3]) expect((await run('verify', '--file', file, '--head', headAt(chain, seq))).code).toBe(0);
});

it.each([
  ['an entry that was changed', [lines[0], lines[1]?.replace('"B"', '"X"'), lines[2]], /entry 2 was changed/],
  ['an entry that is missing', [lines[0], lines[2]], /entry 2 is missing/],
  ['a line that is no entry', ['{}'], /line 1 .* is no entry/],
])('ends with 1 for %s', async (name, changed, message) => {
  const file = write(`${name}.jsonl`, changed.map(String));
  expect(await run('verify', '--file', file)).toMatchObject({ code: 1, output: expect.stringMatching(message) });
});

it('ends with 1 for a file that a kept head contradicts: one written anew, or cut at its end', async () => {
  const anew = write(
    'anew.jsonl',
    chainOf('A', 'X', 'C').map((entry) => lineOf(entry)),
  );
  const cut = write('cut.jsonl', lines.slice(0, 2));
  for (const file of [anew, cut]) {
    expect((await run('verify', '--file', file)).code).toBe(0);
    expect(await run('verify', '--file', file, '--head', headAt(chain, 3))).toMatchObject({
      code: 1,
      output: expect.stringMatching(/entry 3/),
    });
  }
});

it.each([
  [[], /verify .* +check the whole chain/],
  [['verify', '--file', join(folder, 'none')], /cannot be read/],
  [['verify', '--file', write('empty.jsonl', [])], /holds no entry/],
  [['verify', '--head', '1:abc'], /'--head <seq:hash>' argument '1:abc' is invalid. Give SEQ:HASH/],
  [['verify', '--tenant', 'LAX'], /unknown option '--tenant'/],
  [['verify', '--file', 'x', '--url', 'http://x'], /'--file <file>' cannot be used with option '--url <url>'/],
  [['export', '--after', 'x'], /'--after <seq>' argument 'x' is invalid. Give a whole number/],
  [['export', '--head', '1:abc'], /unknown option '--head'/],
])('is called wrongly by %j', async (args, message) => {
  expect(await run(...args)).toEqual({ code: 2, output: expect.stringMatching(message) });
});
