/** What `guestlist` prints before any command runs: help, version, completion, and the answer to a wrong call. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commands, findCommand, helpText } from '../../src/cli/commands.js';
import { runBuilt, runCli } from './in-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (...args: readonly string[]) => runCli(args);
test('--version prints the version of the package', async () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

const helpColumns = 118;

test(`help lists every command, within ${helpColumns} columns`, async () => {
  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    expect(await run(...args)).toEqual({ code: 0, out: `${helpText()}\n`, err: '' });
  }
  for (const { name } of commands) expect(helpText()).toMatch(new RegExp(`^  guestlist ${name} `, 'm'));
  for (const line of helpText().split('\n')) expect(line.length, line).toBeLessThanOrEqual(helpColumns);
});

const names = commands.map(({ name }) => name);

test.each(names)('help %s prints the same as its --help', async (name) => {
  const asked = await run('help', name);
  expect(asked).toEqual(await run(name, '--help'));
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining(`guestlist ${name}`), err: '' });
});

test('the built command line starts as a process of its own, and prints the same', async () => {
  const { out } = await run('--help');
  expect(await runBuilt('--help')).toEqual({ code: 0, out, err: '' });
});

test('help variables lists the variables of settings and secrets', async () => {
  expect((await run('help', 'variables')).out).toMatch(/^ {2}DATABASE_URL /m);
});

describe('an unknown command', () => {
  test('is refused with the command that was meant, and exit code 2', async () => {
    const err = 'guestlist: there is no command "tenats". Did you mean "tenants"?\nSee guestlist help.\n';
    expect(await run('tenats', 'list')).toEqual({ code: 2, out: '', err });
    expect(await run('help', 'tenats')).toEqual({ code: 2, out: '', err });
  });

  test('is refused with the names of all commands where none is near', () => {
    expect(() => findCommand('fly')).toThrow(/The commands are serve, init, policy/);
  });
});

describe('an unknown option', () => {
  test.each<[string, string[], string]>([
    ['the option that was meant', ['guest-tokens', 'list', '--clinet', 'LAX'], 'Did you mean --client?'],
    ['where the options are', ['policy', 'schema', '--colour'], 'See guestlist policy schema --help.'],
    ['it after a word', ['tenancy', 'flights', '--jsn'], 'Did you mean --json?'],
    ['it of conformance too', ['conformance', '--base-ulr', 'x'], 'Did you mean --base-url?'],
    ['it of init too', ['init', '--datbase', 'x'], 'Did you mean --database?'],
  ])('is refused with %s, and exit code 2', async (_, args, hint) => {
    const { code, out, err } = await run(...args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(hint)]);
  });
});

test('an option is no value of the option before it: an option that lacks its value is refused', async () => {
  const err = expect.stringContaining("option '--reason <text>' argument missing");
  expect(await run('revoke', 'all', '--reason', '--end-sessions')).toEqual({ code: 2, out: '', err });
  const taken = await run('revoke', 'all', '--reason=--end-sessions', '--url', 'http://127.0.0.1:1');
  expect(taken.err).toMatch(/No gateway answers|There is no gateway token/);
});

describe('an unknown word after a command', () => {
  test.each<[string[], string]>([
    [['policy', 'explan'], 'Did you mean explain?'],
    [['tenants', 'lst'], 'Did you mean list?'],
    [['audit', 'verfy'], 'Did you mean verify?'],
    [['keys', 'craete'], 'Did you mean create?'],
    [['revoke', 'tenat', 'LAX', '--reason', 'r'], 'Did you mean tenant?'],
    [['unrevoke', 'usr', 'ann', '--reason', 'r'], 'Did you mean user?'],
    [['completion', 'bsh'], 'Allowed choices are bash, zsh, fish.'],
    [['tenants', 'fly'], 'See guestlist tenants --help.'],
  ])('%j is refused with: %s', async (args, hint) => {
    const { code, out, err } = await run(...args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(hint)]);
  });
});

test.each([
  ['policy test', ['policy', 'test'], 'name a file or a folder of tests'],
  ['policy explain', ['policy', 'explain', '--as', 'claims.json'], 'name a policy by --policy'],
])('%s in a folder without a configuration does not take the policy of the demo', async (_, args, instead) => {
  const folder = mkdtempSync(join(tmpdir(), 'guestlist-empty-'));
  writeFileSync(join(folder, 'claims.json'), '{"sub": "ann"}');
  const { code, out, err } = await runCli(args, { cwd: folder });
  rmSync(folder, { recursive: true });
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(`this folder has no guestlist.yaml`)]);
  expect(err).toContain(instead);
});

test('help loads nothing but the table of commands', () => {
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, path = ''] of text.matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];/gm)) {
      expect(path, file).toMatch(/^(node:|\.)/);
      if (path.startsWith('.')) load(join(dirname(file), path));
    }
  };
  load(join(root, 'dist/guestlist.js'));
  const bytes = [...loaded].reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect(bytes).toBeLessThan(50_000);
});

describe('completion', () => {
  const complete = async (line: string): Promise<readonly string[]> => {
    const words = line.split(' ');
    const { out: script } = await run('completion', 'bash');
    const asked = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _guestlist; echo "\${COMPREPLY[*]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', asked]);
    return stdout.trim().split(' ');
  };

  test.runIf(existsSync('/bin/bash'))('bash completes commands and their subcommands', async () => {
    expect(await complete('guestlist ten')).toEqual(['tenants', 'tenancy']);
    expect(await complete('guestlist policy ')).toEqual(['test', 'explain', 'plan', 'schema', '--help']);
    expect(await complete('guestlist help aud')).toEqual(['audit']);
  });

  test.runIf(existsSync('/bin/bash'))('bash completes the options of a command', async () => {
    expect(await complete('guestlist serve --')).toEqual(['--only', '--accept-loss', '--accept-empty', '--help']);
    expect(await complete('guestlist tenants apply delays --pa')).toEqual(['--pause']);
    expect(await complete('guestlist keys delete flights backend --')).toEqual(['--json', '--url', '--yes', '--help']);
    expect(await complete('guestlist plan --d')).toEqual(['--delete']);
    expect(await complete('guestlist policy plan --fa')).toEqual(['--fail-on']);
  });

  test('names every command for each shell, and refuses another shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out } = await run('completion', shell);
      for (const { name } of commands) expect(out).toContain(name);
    }
    expect(await run('completion', 'csh')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
    });
  });
});
