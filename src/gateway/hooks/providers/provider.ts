/** What every provider's adapter has: how a delivery is verified, and how its event is read. Pure. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '../../../model/is-record.js';
import type { Reason } from '../../../model/reasons.js';
import { Refusal } from '../../../model/refusal.js';
import { loadPreset, organizationClaims, type PresetName } from '../../../platform/config/presets.js';
import type { TenantEventKind } from '../../tenant/state.js';
import type { Scheme } from './verify.js';

/** Why an accepted delivery has no effect. */
export type IgnoredReason =
  /** Events of this type say nothing about a tenant's state. */
  | 'event-not-mapped'
  /** The dashboard of the provider sent it, to try the address. */
  | 'test-event'
  /** A provider that does not sign the body may only sign up. */
  | 'unsigned-may-only-sign-up'
  /** The configuration's `when` is false for it. */
  | 'left-out-by-when';

export type Ignored = { readonly ignored: IgnoredReason; readonly type: string };

/** An event of an organization. `kind` is as the provider says it: `deleted` is not an erasure yet. */
export type Happened = {
  /** The same for each attempt to deliver the event. */
  readonly eventId: string;
  /** The provider's name of the event, for the log. */
  readonly type: string;
  readonly kind: TenantEventKind;
  /** The claims that a session of the organization carries. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date;
  /** What another event with the same id differs in. Default: the type. */
  readonly content?: string;
};

/** What an event is read from. `text` is the verified JSON, `event` its value. */
export type Received = {
  readonly event: unknown;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly now: Date;
};

export type Adapter = {
  readonly scheme: Scheme;
  /** The paths of the claims that every mapped event gives, such as `o.id`. */
  readonly claims: () => readonly string[];
  /** Throws INVALID_REQUEST_BODY if the event is not as the provider documents it. */
  readonly read: (received: Received) => Happened | Ignored;
};

export const refuseEvent = (message: string, reason: Reason, cause?: unknown): never => {
  throw new Refusal('INVALID_REQUEST_BODY', message, { reason, cause });
};

/** Returns the value at a path. Undefined if it is not there. */
export const valueAt = (event: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), event);

const maxTextLength = 1000;

export const textAt = (event: unknown, path: string): string => {
  const value = valueAt(event, path);
  if (typeof value === 'string' && value !== '' && value.length <= maxTextLength) return value;
  return refuseEvent(
    `The event's ${path} must be a text: the event is not as the provider documents it.`,
    'hook-body-invalid',
  );
};

/** Returns the text at a path, or null if there is none. */
export const findText = (event: unknown, path: string): string | null => {
  const value = valueAt(event, path);
  return typeof value === 'string' && value !== '' && value.length <= maxTextLength ? value : null;
};

/** Reads the id of the organization. */
export const organizationAt = (event: unknown, path: string): string =>
  findText(event, path) ??
  refuseEvent(`The event names no organization: its ${path} must be a text.`, 'hook-organization-missing');

/** A time in ISO 8601. WorkOS and PostgreSQL write a space for the `T`, and may leave out the zone, which is UTC then. */
const written = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d(?::?\d\d)?)?$/;

const zoneOf = (zone: string | undefined): string => {
  if (zone === undefined || zone === 'Z') return 'Z';
  const [, hours = '', minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return `${hours}:${minutes}`;
};

/** Returns undefined for what is no time. Numbers are milliseconds since 1970. */
export const timeOf = (value: unknown): Date | undefined => {
  const [, day, time, zone] = typeof value === 'string' ? (written.exec(value) ?? []) : [];
  const found = new Date(
    day === undefined ? (typeof value === 'number' ? value : Number.NaN) : `${day}T${time}${zoneOf(zone)}`,
  );
  return Number.isNaN(found.getTime()) ? undefined : found;
};

/** Reads when the event happened, as a time in words or in milliseconds. */
export const momentAt = (event: unknown, path: string): Date =>
  timeOf(valueAt(event, path)) ??
  refuseEvent(
    `The event's ${path} must be a time: the event is not as the provider documents it.`,
    'hook-body-invalid',
  );

/** The id of an event whose sender gives it none. Each attempt sends the same text. */
export const digestOf = (text: string): string => hash('sha256', text, 'hex');

/** The kind of each type of event that says something about a tenant's state. */
export type Kinds = Readonly<Record<string, TenantEventKind>>;

const kindOf = (kinds: Kinds, type: string): TenantEventKind | undefined =>
  Object.hasOwn(kinds, type) ? kinds[type] : undefined;

/** Svix signs by Standard Webhooks, with headers of its own names (https://docs.svix.com/receiving/verifying-payloads/how-manual). */
export const svix: Scheme = { by: 'standard-webhooks', headers: 'svix', toleranceSeconds: 300 };

/** The id of a message of Svix, which is the same for each attempt. Events that a tool reads may lack it. */
export const svixId = ({ headers, text }: Received): string => {
  const id = headers['svix-id'];
  return typeof id === 'string' && id !== '' ? id : digestOf(text);
};

const presets = new Map<PresetName, ReturnType<typeof loadPreset>>();

/** Returns the claims that a session of the organization carries, as the preset of the provider says. */
export const organizationOf = (name: PresetName, id: string): Readonly<Record<string, unknown>> => {
  const preset = presets.get(name) ?? loadPreset(name);
  presets.set(name, preset);
  const claims = organizationClaims(preset, id);
  if (claims === undefined) throw new Error(`the preset ${name} says nothing about an organization`);
  return claims;
};

const standIn = '{id}';

const pathsIn = (value: unknown, path: readonly string[]): readonly string[] =>
  isRecord(value) && !Object.keys(value).some((name) => name.includes(standIn))
    ? Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]))
    : [path.join('.')];

/** Returns the paths of those claims. A map by organizations is one path. */
export const organizationPaths = (name: PresetName): readonly string[] => pathsIn(organizationOf(name, standIn), []);

/** How a provider that knows organizations writes its events. */
type OrganizationEvents = {
  readonly scheme: Scheme;
  readonly preset: PresetName;
  readonly kinds: Readonly<Record<string, TenantEventKind>>;
  /** The paths of the event's type, and of the organization's id. */
  readonly type: string;
  readonly organization: (kind: TenantEventKind) => string;
  readonly eventId: (received: Received) => string;
  readonly moment: (received: Received, kind: TenantEventKind) => Date;
  /** Whether the dashboard of the provider sent it, to try the address. Left out: none is. */
  readonly isTest?: (event: unknown) => boolean;
  /** Claims beside those of the preset, by their names. */
  readonly more?: Readonly<Record<string, (event: unknown, id: string) => string>>;
};

export const organizationAdapter = (events: OrganizationEvents): Adapter => {
  const { scheme, preset, kinds, isTest = () => false, more = {} } = events;
  return {
    scheme,
    claims: () => [...organizationPaths(preset), ...Object.keys(more)],
    read: (received) => {
      const { event } = received;
      const type = textAt(event, events.type);
      if (isTest(event)) return { ignored: 'test-event', type };
      const kind = kindOf(kinds, type);
      if (kind === undefined) return { ignored: 'event-not-mapped', type };
      const id = organizationAt(event, events.organization(kind));
      const beside = Object.entries(more).map(([name, claim]) => [name, claim(event, id)]);
      const claims = { ...organizationOf(preset, id), ...Object.fromEntries(beside) };
      return { eventId: events.eventId(received), type, kind, occurredAt: events.moment(received, kind), claims };
    },
  };
};
