/** Finds the configuration in the folder that Guestlist is started in, and reads the environment file beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Environment, given } from './environment.js';

const localSettingsFile = 'guestlist.yaml';
const localEnvironmentFile = 'guestlist.env';

/** Whether the configuration is a file that was only found in `folder`, and that nobody named. */
export const isFoundInFolder = (env: Environment, folder: string): boolean =>
  given(env, 'GUESTLIST_CONFIG') === undefined && existsSync(join(folder, localSettingsFile));

/**
 * Returns the environment with GUESTLIST_CONFIG set to `guestlist.yaml` of `folder`, if that file exists and no other is named, and
 * with the variables of `guestlist.env` beside the configuration file. Variables of the process come first.
 */
export const withLocalFiles = (env: Environment, folder: string): Environment => {
  const local = isFoundInFolder(env, folder) ? join(folder, localSettingsFile) : undefined;
  const named = given(env, 'GUESTLIST_CONFIG') ?? local;
  if (named === undefined) return env;
  const file = join(dirname(resolve(folder, named)), localEnvironmentFile);
  const kept = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const set = Object.fromEntries(
    Object.keys(env)
      .flatMap((name) => [[name, given(env, name)]])
      .filter(([, value]) => value !== undefined),
  );
  return { ...kept, ...set, GUESTLIST_CONFIG: named };
};
