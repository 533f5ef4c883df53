/** What an operator sees of the running process: its checks, its settings without secrets, and its numbers. */
import type { LiveEngine } from '../model/query/live.js';

export type SystemNumber = { readonly name: string; readonly help: string; readonly value: number };

export type System = {
  readonly version: string;
  readonly checks: readonly { readonly name: string; readonly isGood: boolean; readonly fix: string | null }[];
  readonly settings: unknown;
  readonly numbers: readonly SystemNumber[];
  readonly live: LiveEngine;
};

export type ReadSystem = () => Promise<System>;

const hidden = '•••';

/** The user's password in the address of a server, or a whole text that is a secret by its field. */
const withoutPassword = (text: string): string => text.replaceAll(/(\/\/[^/@\s:]*):[^/@\s]*@/g, `$1:${hidden}@`);

const isSecretField = (name: string): boolean => /secret|password|token$|apiKey|privateKey/i.test(name);

/** The settings without passwords. Secrets come from the environment and are no settings, so this is a second wall. */
export const withoutSecrets = (value: unknown, field = ''): unknown => {
  if (typeof value === 'string') return isSecretField(field) ? hidden : withoutPassword(value);
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutSecrets(one, name)]));
};
