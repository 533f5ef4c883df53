/** `guestlist audit verify --file` verifies an exported audit without a gateway. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AuditEntry, entryOf, genesisHash, lineOf } from '../../src/gateway/audit/chain.js';
import { segmentName, segmentText } from '../../src/gateway/audit/segment.js';
import { archiveKeysOf, pemOf } from '../../src/platform/keys/archive-keys.js';
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

/** Segments of an archive, each of two entries, and the file of the public key. */
const archiveOf = (name: string) => {
  const keys = archiveKeysOf([Buffer.alloc(32, 7)]);
  const archived = chainOf('A', 'B', 'C', 'D', 'E', 'F');
  const parts = [0, 2, 4].map((at) => archived.slice(at, at + 2));
  const archive = join(folder, name);
  mkdirSync(archive);
  const files = parts.map((entries, index) => {
    const [first, last] = [index * 2 + 1, index * 2 + 2];
    const prev = archived[first - 2]?.hash ?? genesisHash;
    const of = { installation: 'here', first, last, prev, hash: entries.at(-1)?.hash ?? '' };
    const file = join(archive, segmentName(of));
    writeFileSync(file, segmentText(of, entries, keys));
    return file;
  });
  const [publicKey] = keys.verifier.values();
  const key = join(folder, `${name}.pem`);
  writeFileSync(key, publicKey === undefined ? '' : pemOf(publicKey));
  const [one = '', two = '', three = ''] = files;
  return { archive, key, archived, files: [one, two, three] as const };
};

it('verifies each segment alone, all of a folder, and an export that goes on after them, with the public key alone', async () => {
  const { archive, key, files, archived } = archiveOf('whole');
  for (const file of files) expect((await run('verify', '--file', file, '--key', key)).code).toBe(0);
  const all = await run('verify', '--file', archive, '--key', key, '--head', headAt(archived, 3));
  expect(all).toMatchObject({ code: 0, output: expect.stringContaining(headAt(archived, 6)) });
  const after = entryOf({
    seq: 7,
    at: '2026-01-01T00:00:00.000Z',
    kind: 'admin',
    code: 'G',
    prev: archived[5]?.hash ?? '',
  });
  const rest = write('rest.jsonl', [lineOf(after)]);
  expect((await run('verify', '--file', archive, '--file', rest, '--key', key)).code).toBe(0);
  expect((await run('verify', '--file', archive, '--key', key, '--head', `3:${'a'.repeat(64)}`)).code).toBe(1);
});

it.each<[string, (files: readonly [string, string, string]) => void, RegExp]>([
  ['a missing segment', ([, two]) => rmSync(two), /in .*005-.*: the entries 3 to 4 are missing/],
  [
    'two segments that changed places',
    ([one, two]) => {
      renameSync(one, `${one}.x`);
      renameSync(two, one);
      renameSync(`${one}.x`, two);
    },
    /in .*001-.*: it has the entries 3 to 4, and its name says 1 to 2: files have changed places/,
  ],
  [
    'a changed byte',
    ([, two]) => writeFileSync(two, readFileSync(two, 'utf8').replace('"D"', '"X"')),
    /in .*003-.*: entry 4 was changed/,
  ],
  [
    'a byte that is no text',
    ([, two]) => writeFileSync(two, Buffer.concat([readFileSync(two), Buffer.from([0xff])])),
    /bytes are no text/,
  ],
])('ends with 1 for a folder with %s', async (name, change, message) => {
  const { archive, key, files } = archiveOf(name.replaceAll(' ', '-'));
  change(files);
  expect(await run('verify', '--file', archive, '--key', key)).toMatchObject({
    code: 1,
    output: expect.stringMatching(message),
  });
});

it('is called wrongly without the key, with a file that is none, and with a folder without segments', async () => {
  const { archive, files } = archiveOf('keyless');
  expect(await run('verify', '--file', files[0])).toMatchObject({
    code: 2,
    output: expect.stringContaining('--key FILE'),
  });
  const none = write('none.pem', ['no key']);
  expect(await run('verify', '--file', archive, '--key', none)).toMatchObject({
    code: 2,
    output: expect.stringContaining('no public key in PEM'),
  });
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  expect(await run('verify', '--file', empty)).toMatchObject({
    code: 2,
    output: expect.stringContaining('audit-*.jsonl'),
  });
});
