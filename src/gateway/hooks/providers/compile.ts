/**
 * Compiles the configuration of a provider: its adapter, and the expressions of `claims` and `when`. Faults have the place
 * in the configuration file.
 */
import type { HookProvider, HookProviderSetting } from '../../../platform/config/hook-providers.js';
import { jwksUrlOf, signsBody } from '../../../platform/config/hook-providers.js';
import { compileOfEvent, type EventVariables, type Expression } from '../../policy/expression.js';
import { type PolicyFault, PolicyFaults } from '../../policy/source.js';
import { auth0 } from './auth0.js';
import { clerk } from './clerk.js';
import { type CustomRead, custom, evaluateOver } from './custom.js';
import { celOf, jsonOf } from './event-values.js';
import { kinde } from './kinde.js';
import { logto } from './logto.js';
import { propelauth } from './propelauth.js';
import { type Adapter, type Happened, type Ignored, type Received, refuseEvent } from './provider.js';
import { stripe } from './stripe.js';
import { supabase } from './supabase.js';
import { workos } from './workos.js';

/** A provider that is ready to receive. */
export type Provider = Pick<HookProvider, 'name' | 'secrets' | 'at'> & {
  readonly kind: HookProviderSetting['kind'];
  readonly scheme: Adapter['scheme'];
  /** Where its keys are published. Null: it signs with a secret. */
  readonly jwksUrl: string | null;
  readonly signsBody: boolean;
  /** The paths of the claims that every mapped event gives. Below a configured claim, nothing is known. */
  readonly claims: readonly { readonly path: string; readonly isConfigured: boolean }[];
  /** Reads a verified event, with the configured claims. Throws INVALID_REQUEST_BODY. */
  readonly read: (received: Received) => Happened | Ignored;
};

type CompileField = (
  field: readonly string[],
  source: string,
  expected: readonly string[],
) => Expression<EventVariables>;

const adapterOf = (setting: HookProviderSetting, compile: CompileField): Adapter => {
  switch (setting.kind) {
    case 'clerk':
      return clerk;
    case 'workos':
      return workos;
    case 'auth0':
      return auth0;
    case 'propelauth':
      return propelauth;
    case 'kinde':
      return kinde;
    case 'logto':
      return logto;
    case 'stripe':
      return stripe(setting);
    case 'supabase':
      return supabase(setting);
    case 'custom': {
      const { id, kind, moment } = setting.read;
      const read: CustomRead = {
        id: compile(['read', 'id'], id, ['string', 'int']),
        kind: compile(['read', 'kind'], kind, ['string']),
        moment: compile(['read', 'moment'], moment, ['string', 'int', 'google.protobuf.Timestamp']),
      };
      return custom(setting.signature, read);
    }
  }
};

const claimTypes = [
  'string',
  'int',
  'double',
  'bool',
  'list<string>',
  'list<dyn>',
  'map<string, dyn>',
  'map<string, string>',
];

/** A provider that does not sign the body may only sign up. `deleted` suspends, unless it shall erase. */
const effectOf = (setting: HookProviderSetting, read: Happened): Happened | Ignored => {
  if (read.kind !== 'signed-up' && !signsBody(setting)) {
    return { ignored: 'unsigned-may-only-sign-up', type: read.type };
  }
  return read.kind === 'deleted' && !setting.erase ? { ...read, kind: 'suspended' } : read;
};

type Configured = {
  readonly claims: readonly (readonly [string, Expression<EventVariables>])[];
  readonly when: Expression<EventVariables> | undefined;
};

const withConfigured = ({ claims, when }: Configured, { event }: Received, read: Happened): Happened | Ignored => {
  const value = celOf(event);
  if (when !== undefined) {
    const isMeant = evaluateOver(when, value);
    if (typeof isMeant !== 'boolean')
      refuseEvent(`"${when.source}" (${when.at}) must give true or false.`, 'hook-event-undecided');
    if (isMeant === false) return { ignored: 'left-out-by-when', type: read.type };
  }
  const configured = claims.map(([name, expression]) => [name, jsonOf(evaluateOver(expression, value))] as const);
  return { ...read, claims: { ...read.claims, ...Object.fromEntries(configured) } };
};

/** Throws PolicyFaults, with the place of each faulty expression in the configuration. */
export const compileProvider = ({ name, setting, secrets, at }: HookProvider): Provider => {
  const faults: PolicyFault[] = [];
  const compile: CompileField = (field, source, expected) => {
    const place = at(...field);
    const compiled = compileOfEvent({ source, at: place, expected });
    if ('evaluate' in compiled) return compiled;
    faults.push({ at: place, message: `gateway.hooks.providers.${[name, ...field].join('.')}: ${compiled.message}` });
    return { source, at: place, readsNow: false, readsUser: false, cost: 0, evaluate: () => undefined };
  };
  const adapter = adapterOf(setting, compile);
  const when = setting.when === undefined ? undefined : compile(['when'], setting.when, ['bool']);
  const claims = Object.entries(setting.claims).map(
    ([claim, source]) => [claim, compile(['claims', claim], source, claimTypes)] as const,
  );
  if (faults.length > 0) throw new PolicyFaults(faults);
  const isReplaced = (path: string): boolean => claims.some(([claim]) => claim === path.split('.')[0]);
  return {
    ...{ name, secrets, at, kind: setting.kind, scheme: adapter.scheme },
    jwksUrl: jwksUrlOf(setting),
    signsBody: signsBody(setting),
    claims: [
      ...adapter
        .claims()
        .filter((path) => !isReplaced(path))
        .map((path) => ({ path, isConfigured: false })),
      ...claims.map(([path]) => ({ path, isConfigured: true })),
    ],
    read: (received) => {
      const read = adapter.read(received);
      if ('ignored' in read) return read;
      const meant = withConfigured({ claims, when }, received, read);
      return 'ignored' in meant ? meant : effectOf(setting, meant);
    },
  };
};
