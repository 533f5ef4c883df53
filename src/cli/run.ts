import { findCommand, helpText } from './commands.js';
import { WrongCall } from './wrong-call.js';

const runCommand = async ([first, ...others]: readonly string[]): Promise<number> => {
  if (first === '--version' || first === '-v' || first === 'version') {
    console.log((await import('./version.js')).readVersion());
    return 0;
  }
  if (first === 'help' && others[0] === 'variables') {
    console.log((await import('./reference.js')).renderVariables());
    return 0;
  }
  if (first === 'help' && others[0] !== undefined) return findCommand(others[0]).run([...others.slice(1), '--help']);
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    console.log(helpText());
    return 0;
  }
  return findCommand(first).run(others);
};

/** Runs the command of these arguments, prints what failed, and returns the exit code. */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    return await runCommand(args);
  } catch (error) {
    const { paint } = await import('./kit/terminal.js');
    console.error(
      `${paint('red', 'guestlist:', process.stderr)} ${error instanceof Error ? error.message : String(error)}`,
    );
    const isUnknownFlag =
      error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
    return isUnknownFlag || error instanceof WrongCall ? 2 : 1;
  }
};
