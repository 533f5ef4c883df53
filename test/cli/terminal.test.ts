/** Colours, tables and progress: on a terminal, without one, and with NO_COLOR. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProgress, paint, shellText, tableText, withProgress } from '../../src/cli/kit/terminal.js';

const entry = join(fileURLToPath(new URL('../..', import.meta.url)), 'bin/guestlist.mjs');

/** What the command line prints on a terminal of its own, which `script` makes. */
const onTerminal = (env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve) => {
    const { PATH } = process.env;
    const command = `${process.execPath} ${entry} tenats`;
    const options = { env: { PATH, TERM: 'xterm-256color', ...env } };
    execFile('script', ['-qec', command, '/dev/null'], options, (_, out) => resolve(out));
  });

const stream = (isTTY: boolean, isColoured = isTTY) => {
  const written: string[] = [];
  return { isTTY, hasColors: () => isColoured, write: (text: string) => written.push(text) > 0, written };
};

describe.runIf(existsSync('/usr/bin/script'))('the command line on a terminal', () => {
  test('colours what it says, and not with NO_COLOR', async () => {
    expect(await onTerminal({})).toContain('\u001B[31mguestlist:\u001B[39m there is no command "tenats"');
    expect(await onTerminal({ NO_COLOR: '1' })).toMatch(/^guestlist: there is no command "tenats"/);
    expect(await onTerminal({ TERM: 'dumb' })).toMatch(/^guestlist: /);
  });
});

test('without a terminal, nothing has colours', () => {
  expect(paint('red', 'x', stream(false, true))).toBe('x');
  expect(paint('red', 'x', stream(true, false))).toBe('x');
  expect(paint('red', 'x', stream(true))).toBe('\u001B[31mx\u001B[39m');
});

test('a table has its columns aligned, and no cell runs in the terminal or breaks a line', () => {
  const rows = [
    ['complete', 'A'],
    ['failed', 'evil\u001B[2J\nname'],
  ];
  expect(tableText(['State', 'Tenant'], rows)).toBe('STATE     TENANT\ncomplete  A\nfailed    evil\uFFFD[2J\uFFFDname');
  expect(tableText(['State'], [])).toBe('There are none.');
});

test('progress is one line on a terminal that is gone at the end, also after an error, and nothing elsewhere', async () => {
  const terminal = stream(true);
  const failing = withProgress(async (say) => {
    say('1 of 2: a\nb');
    throw new Error('refused');
  }, terminal);
  await expect(failing).rejects.toThrow('refused');
  expect(terminal.written).toEqual(['\r\u001B[K1 of 2: a b', '\r\u001B[K']);
  const file = stream(false);
  createProgress(file).say('1 of 2');
  createProgress(file).end();
  expect(file.written).toEqual([]);
});

test('a shell reads a printed argument as the name that it is', () => {
  const read = (argument: string) =>
    execFileSync('sh', ['-c', `printf '%s|' --flag ${argument}`], { encoding: 'utf8' });
  expect(['public.orders', 'a=b,c'].map(shellText)).toEqual(['public.orders', 'a=b,c']);
  const name = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...`aZ1 '"$\`\\*;|&<>()!#~{}[]?\té`) });
  fc.assert(
    fc.property(name, (text) => {
      expect(read(shellText(text))).toBe(`--flag|${text}|`);
    }),
    { numRuns: 40, examples: [["it's $(id)"], ['~'], ['-x']] },
  );
});
