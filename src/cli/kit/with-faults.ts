import { PolicyFaults } from '../../gateway/policy/source.js';
import { Refusal } from '../../model/refusal.js';
import { ConfigError } from '../../platform/config/config.js';
import { WrongCall } from './exit.js';

/** Throws WrongCall for faults of the files: the command was given what it cannot read. */
export const withFaults = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof PolicyFaults || cause instanceof ConfigError)
      throw new WrongCall(`${cause.faults.length} fault(s):\n${cause.message}`, { cause });
    throw cause instanceof Refusal ? new WrongCall(cause.message, { cause }) : cause;
  }
};
