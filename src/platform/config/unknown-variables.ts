/** Finds environment variables that look like settings of Guestlist and are none: most are misspelt. */
import { nearestName } from '../../model/nearest-name.js';
import { type Environment, settingVariables } from './environment.js';

export type UnknownVariable = {
  readonly variable: string;
  /** The setting that was probably meant. */
  readonly suggestion: string | undefined;
};

/** What Kubernetes sets in every container beside a Service named `guestlist`, and the variables of our scripts. */
const ofOthers =
  /^GUESTLIST_(?:PORT(?:_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)?|SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|URL)$/;

/** `isUsed` says whether a policy or an issuer names the variable. Values are never read. */
export const findUnknownVariables = (env: Environment, isUsed: (name: string) => boolean): readonly UnknownVariable[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('GUESTLIST_') && !settingVariables.includes(name))
    .filter((name) => !ofOthers.test(name) && !isUsed(name))
    .sort()
    .map((variable) => ({ variable, suggestion: nearestName(variable, settingVariables) }));

/** The message about one of them. */
export const describeUnknown = ({ variable, suggestion }: UnknownVariable): string =>
  `${variable} is not a setting; ${suggestion === undefined ? 'it is ignored. `guestlist --help` lists the variables' : `did you mean ${suggestion}?`}`;
