/**
 * Runs a captured event of a provider through its adapter, the configured claims and the policy, without effect, and says
 * what would happen. The answer has claims of an organization, so it must not be logged.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../../model/refusal.js';
import type { HookProvider } from '../../platform/config/hook-providers.js';
import { JwtFault } from '../../platform/keys/jwt.js';
import { readSignedText } from '../../platform/keys/signed-text.js';
import { compileProvider, type Provider } from '../hooks/providers/compile.js';
import { assertReaches, parseEvent, tenantOfEvent } from '../hooks/providers/handle.js';
import { type Happened, type IgnoredReason, refuseEvent } from '../hooks/providers/provider.js';
import { type Delivery, signedAt, verifyDelivery } from '../hooks/providers/verify.js';
import { nothingOnSignUp } from '../lifecycle/lifecycle.js';
import { type Policy, policyFor } from '../policy/policy.js';
import { tenantOfCase } from './dry-run.js';

export type Tried = {
  readonly provider: string;
  /** Whether the signature is right, or why it was not checked. */
  readonly signature: string;
  readonly outcome: 'applied' | 'ignored' | 'refused';
  /** What would happen, and why. */
  readonly effect: string;
  readonly event?: Readonly<Record<'id' | 'type' | 'occurredAt', string>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly tenant?: string;
};

export type TryOptions = {
  readonly provider: HookProvider;
  readonly policy: Policy;
  readonly delivery: Delivery;
  readonly now: Date;
  /** The host's answer to assume, if the policy looks tenants up at the host. */
  readonly lookup?: readonly string[] | undefined;
};

/** A captured delivery is older than any tolerance, so its signature is checked at its own time. */
const checkSignature = async ({ scheme, secrets, jwksUrl, name }: Provider, delivery: Delivery): Promise<string> => {
  if (jwksUrl !== null) return `not checked: the keys are at ${jwksUrl}`;
  if (Object.keys(delivery.headers).length === 0) return 'not checked: the file has no headers';
  if (secrets.length === 0) return 'not checked: the secret of the provider is not set';
  try {
    const at = signedAt(scheme, delivery.headers);
    const secretsAt = `gateway.hooks.providers.${name}`;
    await verifyDelivery(scheme, delivery, { secrets, keys: null, now: at ?? new Date(0), secretsAt });
    return at === null ? 'right' : `right, made at ${at.toISOString()}`;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `WRONG: ${error.message}`;
  }
};

const textOf = ({ scheme }: Provider, { text }: Delivery): string => {
  // A capture may be that of the payload.
  if (scheme.by !== 'jwt' || text.trim().startsWith('{')) return text;
  try {
    return readSignedText(text.trim());
  } catch (error) {
    if (!(error instanceof JwtFault)) throw error;
    return refuseEvent('The body is no JWT.', 'hook-body-invalid', error);
  }
};

const whyIgnored: Readonly<Record<IgnoredReason, string>> = {
  'event-not-mapped': "events of this type say nothing about a tenant's state",
  'test-event': 'it is a test of the dashboard',
  'unsigned-may-only-sign-up': 'the provider does not sign the body, so it may only sign up',
  'left-out-by-when': 'the configuration leaves it out by `when`',
};

const effectOf = ({ kind }: Happened, policy: Policy, tenant: string): string => {
  const templates = policyFor(policy, tenant).onSignUp.map(({ name }) => name);
  const onSignUp = templates.length === 0 ? nothingOnSignUp : `its dashboards are created: ${templates.join(', ')}`;
  return {
    'signed-up': `tenant ${tenant} is signed up; ${onSignUp}`,
    suspended: `tenant ${tenant} is suspended: its tokens are revoked and its users refused; nothing is erased`,
    resumed: `tenant ${tenant} is resumed: its users are let in again`,
    deleted: `tenant ${tenant} is ERASED: its tokens are revoked and its data at Guestlist is deleted`,
  }[kind];
};

/** Rejects with PolicyFaults for a faulty configuration, and if the policy asks the host and `lookup` is not given. */
export const tryEvent = async (options: TryOptions): Promise<Tried> => {
  const { policy, delivery, now, lookup } = options;
  const provider = compileProvider(options.provider);
  assertReaches(provider, policy);
  const tried = { provider: provider.name, signature: await checkSignature(provider, delivery) };
  const isWrong = tried.signature.startsWith('WRONG');
  try {
    const text = textOf(provider, delivery);
    const headers: IncomingHttpHeaders = delivery.headers;
    const read = provider.read({ event: parseEvent(text), text, headers, now });
    if ('ignored' in read) {
      return {
        ...tried,
        outcome: 'ignored',
        effect: `answered 200 and ignored (${read.type}): ${whyIgnored[read.ignored]}`,
      };
    }
    const { eventId: id, type, occurredAt, claims } = read;
    const tenant = await tenantOfEvent(tenantOfCase({ lookup }), policy, read);
    const found = { event: { id, type, occurredAt: occurredAt.toISOString() }, claims, tenant };
    if (isWrong) return { ...tried, ...found, outcome: 'refused', effect: 'refused with 401 for its signature' };
    return { ...tried, ...found, outcome: 'applied', effect: effectOf(read, policy, tenant) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...tried, outcome: 'refused', effect: `refused: ${error.message}` };
  }
};

/** Returns the text, without a final newline. */
export const writeTried = ({ provider, signature, outcome, effect, event, claims, tenant }: Tried): string =>
  [
    `provider   ${provider}`,
    `signature  ${signature}`,
    ...(event === undefined ? [] : [`event      ${event.type}, ${event.id}, happened at ${event.occurredAt}`]),
    ...(claims === undefined ? [] : [`claims     ${JSON.stringify(claims)}`]),
    ...(tenant === undefined ? [] : [`tenant     ${tenant}`]),
    `effect     ${effect}`,
    ...(outcome === 'applied'
      ? ['           Nothing was done. A newer event of this tenant would decide instead.']
      : []),
  ].join('\n');
