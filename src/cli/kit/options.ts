/** Reads the options of a command. */
import { parseArgs } from 'node:util';
import { nearestName } from '../../domain/nearest-name.js';

const isUnknownOption = (error: unknown): error is TypeError =>
  error instanceof TypeError && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION';

const describe = (message: string, known: readonly string[]): string => {
  const option = /'(-[^']*)'/.exec(message)?.[1] ?? '';
  const near = nearestName(option.replace(/^--?/, ''), known);
  const names = known.map((name) => `--${name}`).join(', ') || 'none';
  return `there is no option "${option}" here. ${near === undefined ? `The options are: ${names}.` : `Did you mean "--${near}"?`}`;
};

/** As `parseArgs`. The error for an unknown option says which one was probably meant. */
export const parseOptions: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    if (isUnknownOption(error)) error.message = describe(error.message, Object.keys(config?.options ?? {}));
    throw error;
  }
};
