import { exitCodes, findCommand, helpText, loadCommand } from './commands.js';

const runNamed = async (name: string, args: readonly string[]): Promise<number> => {
  const [command, { runWith }] = await Promise.all([loadCommand(findCommand(name)), import('./kit/run-with.js')]);
  return runWith(command, args, exitCodes);
};

const runCommand = async ([first, ...others]: readonly string[]): Promise<number> => {
  if (first === '--version' || first === '-v' || first === 'version') {
    console.log((await import('./version.js')).readVersion());
    return 0;
  }
  if (first === 'help' && others[0] === 'variables') {
    console.log((await import('./reference.js')).renderVariables());
    return 0;
  }
  if (first === 'help' && others[0] !== undefined) return runNamed(others[0], [...others.slice(1), '--help']);
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    console.log(helpText());
    return 0;
  }
  return runNamed(first, others);
};

/** Runs the command of these arguments, prints what failed, and returns the exit code. */
export const run = async (args: readonly string[]): Promise<number> => {
  try {
    return await runCommand(args);
  } catch (error) {
    return (await import('./kit/run-with.js')).fail(error);
  }
};
