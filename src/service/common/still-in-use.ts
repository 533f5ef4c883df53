/** The refusal of a deletion: what stands on the thing is named, and nothing is deleted. */
import { Refusal } from '../../model/refusal.js';

const shown = 5;

/** How many names to read of each kind, so that the message can say that there are more. */
export const usersToName = shown + 1;

/**
 * Throws STILL_IN_USE if `users` names anything: `{datamart: ['sales']}`. `fix` says what to do first.
 */
export const assertUnused = (what: string, users: Readonly<Record<string, readonly string[]>>, fix: string): void => {
  const parts = Object.entries(users).flatMap(([kind, names]) => [
    ...names.slice(0, shown).map((name) => `${kind} ${JSON.stringify(name)}`),
    ...(names.length > shown ? [`more than ${shown} of kind ${kind}`] : []),
  ]);
  if (parts.length === 0) return;
  throw new Refusal(
    'STILL_IN_USE',
    `${what} is still in use, and was not deleted. It is used by ${parts.join(', ')}. ${fix}`,
  );
};
