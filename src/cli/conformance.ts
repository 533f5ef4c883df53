/** `guestlist conformance`. The kit reads its own arguments, since it is also published alone. */
import { Command } from '@commander-js/extra-typings';
import { runConformance, stopOnSignal } from '../conformance/conformance.js';
import { flags } from '../conformance/kit/options.js';
import { Exit } from './kit/exit.js';

const run = async (args: readonly string[]): Promise<void> => {
  const code = await runConformance(args, console, stopOnSignal());
  if (code !== 0) throw new Exit(code);
};

// The words after `conformance` are those of the parent after the first.
export const conformanceCommand = new Command().action((_, { parent }) => run(parent?.args.slice(1) ?? []));
// `--help` is one of them: the kit prints its own help.
for (const [name, { type }] of Object.entries(flags)) {
  conformanceCommand.option(`${name === 'help' ? '-h, ' : ''}--${name}${type === 'string' ? ' <value>' : ''}`);
}
