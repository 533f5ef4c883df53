/** Keys of operators' assistants: each has a name, roles and an end. Only the command line of an operator makes them. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  declareCommand,
  moment,
  noInput,
  operatorsAlone,
} from '../gateway/common/admin-command.js';
import { type Person, studioRoles } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { keyIssuer, type StudioSessions } from './sessions.js';

/** An assistant owns nothing: what only an owner may do, a person does. */
const keyRoles = studioRoles.filter((role) => role !== 'owner');

const keyName = z
  .string()
  .regex(/^[\w.@-]{1,64}$/, 'a name of up to 64 letters, digits and . _ @ -')
  .describe('whom the audit names: the assistant or its owner');

const createInput = z.strictObject({
  name: keyName,
  roles: z.array(z.enum(keyRoles)).min(1),
  days: z.int().min(1).max(366).default(30),
});

/** It reads definitions and states, never rows of a tenant. */
const assistant = (name: string, roles: Person['roles']): Person => ({
  ...{ issuer: keyIssuer, subject: name, name, roles },
  seesData: false,
});

const roles = z.array(z.enum(studioRoles));

export const createOperatorKey = declareCommand(
  'operator-key-create',
  createInput,
  z.object({ name: z.string(), roles, key: z.string(), expiresAt: moment }),
  operatorsAlone,
);

export const listOperatorKeys = declareCommand(
  'operator-key-list',
  noInput,
  z.object({
    keys: z.array(z.object({ name: z.string(), roles, createdAt: moment, usedAt: moment, expiresAt: moment })),
  }),
  { reads: 'definitions', isChange: false },
);

export const endOperatorKey = declareCommand(
  'operator-key-end',
  z.strictObject({ name: keyName }),
  z.object({ name: z.string(), ended: z.number() }),
  operatorsAlone,
);

/** `operator-key-create`, `operator-key-list` and `operator-key-end`. Studio offers none of them. */
export const operatorKeyCommands = (sessions: StudioSessions): readonly AdminCommand[] => [
  adminCommand(createOperatorKey, async ({ name, roles, days }) => {
    const taken = (await sessions.listKeys()).some(({ person }) => person.subject === name);
    if (taken)
      throw new Refusal(
        'INVALID_REQUEST_BODY',
        `There is a key ${name} already. End it first, or choose another name.`,
      );
    const { key, expiresAt } = await sessions.createKey(assistant(name, roles), days);
    return { name, roles, key, expiresAt };
  }),
  adminCommand(listOperatorKeys, async () => ({
    keys: (await sessions.listKeys()).map(({ person: { subject, roles }, createdAt, usedAt, expiresAt }) => ({
      ...{ name: subject, roles, createdAt, usedAt, expiresAt },
    })),
  })),
  adminCommand(endOperatorKey, async ({ name }) => {
    const ended = await sessions.endAllOf({ issuer: keyIssuer, subject: name });
    if (ended === 0)
      throw new Refusal('NOT_FOUND', `There is no key ${name}. "guestlist operator-key list" lists them.`);
    return { name, ended };
  }),
];
