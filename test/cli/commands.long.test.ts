/** Each command of the built command line, as a process of its own. */
import { expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { runBuilt, runCli } from './in-process.js';

test.each(commands.map(({ name }) => name))(
  'the built command %s starts as a process of its own, and prints the same help',
  async (name) => {
    const { out } = await runCli([name, '--help']);
    expect(await runBuilt(name, '--help')).toEqual({ code: 0, out, err: '' });
  },
);
