/** Runs a declared command. Help, hints and errors look alike in all commands. */
import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { Exit, WrongCall } from './exit.js';
import { printError } from './terminal.js';

const pathOf = (command: CommandUnknownOpts): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** Gives the commands below `parent` what `parent` was set to. */
const inherit = (parent: CommandUnknownOpts): void => {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent).showHelpAfterError(`See ${pathOf(command)} --help.`);
    inherit(command);
  }
};

/** Lines of a description are joined where the source breaks them; a blank line ends a paragraph. */
const describe = (command: CommandUnknownOpts): string =>
  (command.description() || command.summary()).replace(/(\S)\n(?=\S)/g, '$1 ');

/** commander takes the next word for a value, whatever it is: `--reason --end-sessions` would end no session. */
const assertValues = (command: CommandUnknownOpts, args: readonly string[]): void => {
  const bare = command.options.find(
    (option) =>
      option.required &&
      args.some((word, at) => [option.long, option.short].includes(word) && /^-./.test(args[at + 1] ?? '')),
  );
  if (bare === undefined) return;
  const given = `A value that starts with a dash is given as ${bare.long}=VALUE.`;
  command.error(`error: option '${bare.flags}' argument missing. ${given}`);
};

const print = (text: string): void => console.log(text.replace(/\n$/, ''));

/** Prints why a command failed, if nobody has. Returns the exit code. */
export const fail = (error: unknown): number => {
  if (error instanceof Exit) return error.code;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  printError(error instanceof Error ? error.message : String(error));
  return error instanceof WrongCall ? 2 : 1;
};

/** Runs the command with its arguments, and prints why it fails. Returns the exit code. */
export const runWith = async (
  command: CommandUnknownOpts,
  args: readonly string[],
  exitCodes: string,
): Promise<number> => {
  const program = new Command('guestlist')
    .exitOverride()
    .configureHelp({ commandDescription: describe })
    .configureOutput({
      writeOut: print,
      writeErr: (text) => console.error(text.replace(/\n$/, '')),
      outputError: (text) => printError(text.replace(/^error: /, '').trimEnd()),
    })
    .addHelpText('afterAll', `\n${exitCodes}`)
    .hook('preAction', (_, called) => assertValues(called, args))
    .addCommand(command);
  inherit(program);
  try {
    await program.parseAsync([command.name(), ...args], { from: 'user' });
    return 0;
  } catch (error) {
    return fail(error);
  }
};
