/**
 * Making and rotating keys, by owners who see data, because a key can read rows of tenants. The new key is in one answer
 * and nowhere else: neither in the audit nor in a log line. No key that exists reaches a browser. Assistants have no such tool.
 */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  askedIn,
  declareCommand,
  type Ruled,
} from '../gateway/common/admin-command.js';
import type { ApiKeyCaller, ServiceCaller } from '../model/guest/caller.js';
import { Refusal } from '../model/refusal.js';
import { identifier, limits, text } from '../platform/http/interface/fields.js';
import type { Handler } from '../platform/http/interface/operation.js';
import { type createApiKey, newCredential, type rotateApiKey } from '../service/keys/contract/api-keys.js';
import type { createServiceToken, rotateServiceToken } from '../service/keys/contract/service-tokens.js';
import { noToken } from './work.js';

/** `dataApp` null: a service token of the organization. */
const named = { dataApp: identifier.nullable(), name: identifier };
type Named = { readonly dataApp: string | null; readonly name: string };

/** Its holder can read rows of every tenant, so an owner without access to data makes none. */
const byOwners: Ruled<Named> = {
  ...{ roles: ['owner'], reads: 'rows', isChange: true },
  auditDetail: ({ dataApp, name }: Named) => ({ key: name, ...(dataApp === null ? {} : { dataApp }) }),
};

export const createKey = declareCommand(
  'key-create',
  z.strictObject({ ...named, description: text.optional() }),
  newCredential,
  byOwners,
);
export const rotateKey = declareCommand(
  'key-rotate',
  z.strictObject({ ...named, graceSeconds: z.int().min(0).max(limits.graceSeconds) }),
  newCredential,
  byOwners,
);

export type KeyParts = {
  readonly createApiKey: Handler<typeof createApiKey>;
  readonly createServiceToken: Handler<typeof createServiceToken>;
  readonly rotateApiKey: Handler<typeof rotateApiKey>;
  readonly rotateServiceToken: Handler<typeof rotateServiceToken>;
  /** The caller that the current key of this name is. Undefined: there is no such key. */
  readonly findKey: (named: Named) => Promise<ApiKeyCaller | ServiceCaller | undefined>;
};

export const keyCommands = (parts: KeyParts): readonly AdminCommand[] => [
  adminCommand(createKey, ({ dataApp, ...own }, by, signal) => {
    const caller = { kind: 'serviceToken', tokenId: noToken, person: askedIn(by).session.person } as const;
    if (dataApp === null) return parts.createServiceToken(caller, own, signal);
    return parts.createApiKey(caller, { ...own, dataAppName: dataApp }, signal);
  }),
  adminCommand(rotateKey, async ({ graceSeconds: expireAt, ...key }, _, signal) => {
    const caller = await parts.findKey(key);
    if (caller === undefined)
      throw new Refusal('NOT_FOUND', `There is no key named ${JSON.stringify(key.name)}: read the list again.`);
    if (caller.kind === 'apiKey') return parts.rotateApiKey(caller, { expireAt }, signal);
    return parts.rotateServiceToken(caller, { expireAt }, signal);
  }),
];
