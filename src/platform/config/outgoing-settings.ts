/** What the settings of addresses that this process sends to have in common. */
import { z } from 'zod';
import { isLoopback } from '../addresses/addresses.js';
import type { Environment } from './environment.js';

/** The name of an environment variable that holds a secret. */
export const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');

/** The faults of one setting of an outgoing address: its path, and how to fix it. */
export type OutgoingFault = { readonly path: string; readonly mend: string };

export type OutgoingSources = { readonly env: Environment; readonly isProduction: boolean };

/** Returns what is wrong with the address. Null: nothing. */
export const urlFault = (address: string, isProduction: boolean, allowsHttp = false): string | null => {
  if (!URL.canParse(address)) return 'is no URL: write https://...';
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'has a user or password in it: leave both out';
  const isLocal = !isProduction && isLoopback(hostname);
  if (protocol === 'https:' || (protocol === 'http:' && (isLocal || allowsHttp))) return null;
  return 'must begin with https://; http:// is for this machine alone, and not in production';
};

/** Reads the variable that a setting names. The fault never holds the value. */
export const readVariable = (
  name: string | undefined,
  env: Environment,
): { readonly value: string | null; readonly fault: string | null } => {
  if (name === undefined) return { value: null, fault: null };
  const value = env[name] ?? '';
  return value === '' ? { value: null, fault: `names the variable ${name}, which is not set` } : { value, fault: null };
};
