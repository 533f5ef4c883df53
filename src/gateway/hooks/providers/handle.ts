/**
 * Handles the webhooks of login and billing providers: verifies a delivery, reads its event, resolves the tenant as a
 * login of that organization does, and applies the event as those of the host are. The files beside this one have what
 * each kind sends.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../../model/ports.js';
import { Refusal } from '../../../model/refusal.js';
import { shownUrl } from '../../../platform/addresses/shown-url.js';
import type { HookProvider } from '../../../platform/config/hook-providers.js';
import { parseJson, readText } from '../../../platform/http/wire/body-reader.js';
import type { JwtKeys } from '../../../platform/keys/jwt-keys.js';
import type { Log } from '../../../platform/logs/log.js';
import type { EventAnswer } from '../../lifecycle/lifecycle.js';
import { missingClaims } from '../../policy/claims-read.js';
import type { Policies } from '../../policy/policies.js';
import type { Policy } from '../../policy/policy.js';
import { PolicyFaults } from '../../policy/source.js';
import type { TenantEvent } from '../../tenant/records.js';
import type { TenantOf } from '../../tenant/resolve.js';
import { applyEvent, assertMoment, type HooksOptions } from '../hooks.js';
import { type HookGuard, type HookTrace, whileGuarded } from '../receive.js';
import { compileProvider, type Provider } from './compile.js';
import type { Happened, Ignored } from './provider.js';
import { verifyDelivery } from './verify.js';

/** Maximum size of a body in bytes. Events of Stripe are much larger than those of logins. */
const maxBytes = 256 * 1024;
/** Maximum nesting of its JSON. */
const maxLevels = 100;

export type ProviderHooksOptions = Pick<HooksOptions, 'deliveries' | 'lifecycle' | 'audit'> & {
  readonly providers: readonly HookProvider[];
  readonly policies: Policies;
  readonly tenantOf: TenantOf;
  /** Returns the keys that are published at a URL. */
  readonly keysAt: (url: string) => JwtKeys;
  readonly guard: HookGuard;
  readonly toleranceSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
};

/** `isApplied` false and `ignored`: the event has no effect, and repeating it would have none. */
export type ProviderAnswer = EventAnswer | (Ignored & { readonly isApplied: false });
export type AnswerProvider = (request: IncomingMessage, trace: HookTrace) => Promise<ProviderAnswer>;

/** The path of a provider's hook, without `/hooks/`. */
const providerHook = (name: string): string => `provider/${name}`;

/** Parses the JSON of an event. Throws INVALID_REQUEST_BODY. */
export const parseEvent = (text: string): unknown => parseJson(text, { maxBytes, levels: maxLevels });

/**
 * Throws PolicyFaults if the policy's tenant expression reads a claim that events of the provider never give. The place is
 * that of the provider in the configuration.
 */
export const assertReaches = ({ name, kind, claims, at }: Provider, { tenant }: Policy): void => {
  const given = claims.map(({ path, isConfigured }) => ({
    path: isConfigured ? [path] : path.split('.'),
    isOpen: isConfigured,
  }));
  const missing = missingClaims(tenant.key.source, given);
  if (missing.length === 0) return;
  const gives = claims.length === 0 ? 'none' : claims.map(({ path }) => path).join(', ');
  const message = `gateway.hooks.providers.${name}: the policy's tenant expression "${tenant.key.source}" (${tenant.key.at}) reads ${missing.join(', ')}, which no event of ${kind} gives (it gives ${gives}): add it to \`claims\` of this provider, as CEL over event`;
  throw new PolicyFaults([{ at: at(), message }]);
};

/** Compiles all providers. Throws PolicyFaults with the faults of all. */
const compileAll = (providers: readonly HookProvider[]): readonly Provider[] => {
  const faults: PolicyFaults[] = [];
  const compiled = providers.flatMap((provider) => {
    try {
      return [compileProvider(provider)];
    } catch (error) {
      if (!(error instanceof PolicyFaults)) throw error;
      faults.push(error);
      return [];
    }
  });
  if (faults.length > 0) throw new PolicyFaults(faults.flatMap((one) => one.faults));
  return compiled;
};

/**
 * Resolves the tenant of an event. A tenant that the policy's table or the host does not know yet may be added shortly
 * after its sign-up, so the provider shall repeat: UPSTREAM_UNAVAILABLE. Otherwise INVALID_REQUEST_BODY.
 */
export const tenantOfEvent = async (
  tenantOf: TenantOf,
  policy: Policy,
  { claims }: Pick<Happened, 'claims'>,
): Promise<string> => {
  try {
    return await tenantOf(policy, { claims, isPartial: true }, undefined);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'NO_TENANT') throw error;
    const { reason } = error;
    if (reason === 'tenant-unknown') {
      throw new Refusal('UPSTREAM_UNAVAILABLE', `${error.message} Then repeat the event.`, { reason, cause: error });
    }
    throw new Refusal('INVALID_REQUEST_BODY', `The organization of the event reaches no tenant: ${error.message}`, {
      reason,
      cause: error,
    });
  }
};

const createAnswer = (provider: Provider, options: ProviderHooksOptions): AnswerProvider => {
  const { policies, tenantOf, guard, clock, deliveries } = options;
  const keys = provider.jwksUrl === null ? null : options.keysAt(provider.jwksUrl);
  const secretsAt = provider.jwksUrl === null ? `gateway.hooks.providers.${provider.name}` : shownUrl(provider.jwksUrl);
  const receive = async (request: IncomingMessage) => {
    const { headers } = request;
    const body = await readText(request, maxBytes);
    const now = clock.now();
    const proof = { secrets: provider.secrets, keys, now, secretsAt };
    const text = await verifyDelivery(provider.scheme, { text: body, headers }, proof);
    return { text, headers, now };
  };
  return async (request, trace) => {
    const received = await whileGuarded(guard, request, () => receive(request));
    const read = provider.read({ ...received, event: parseEvent(received.text) });
    if ('ignored' in read) return { ...read, isApplied: false };
    assertMoment(read.occurredAt, options);
    const clientId = await tenantOfEvent(tenantOf, policies.current(), read);
    if (read.kind !== 'deleted') trace.tenant = clientId;
    const event: TenantEvent = { kind: read.kind, clientId, occurredAt: read.occurredAt };
    const id = JSON.stringify(['provider', provider.name, read.eventId]);
    const { answer, isReplay } = await deliveries.once(id, read.content ?? read.type, () =>
      applyEvent(options, event, { requestId: trace.requestId, provider: provider.name }),
    );
    trace.isReplay = isReplay;
    return answer;
  };
};

/**
 * Returns the handler of each provider by its path. Throws PolicyFaults for a provider whose expressions are faulty, or
 * whose events cannot give what the policy reads; a later policy of that kind is refused too.
 */
export const createProviderHooks = (options: ProviderHooksOptions): ReadonlyMap<string, AnswerProvider> => {
  const providers = compileAll(options.providers);
  options.policies.subscribe({
    prepare: (policy) => {
      for (const provider of providers) assertReaches(provider, policy);
    },
  });
  for (const { name, signsBody } of providers) {
    if (signsBody) continue;
    options.log.warn(
      { event: 'hook.provider_unsigned', hook: providerHook(name) },
      'this provider does not sign the body of its hooks: they may only sign up, and its other events are ignored',
    );
  }
  return new Map(providers.map((provider) => [providerHook(provider.name), createAnswer(provider, options)]));
};
