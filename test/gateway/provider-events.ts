/** Events of providers by the shape that they document, signed with real keys as each of them signs. */
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import {
  type HookProvider,
  hookProvidersSetting,
  loadHookProviders,
} from '../../src/platform/config/hook-providers.js';
import { startSeconds } from './harness.js';

export const startMs = startSeconds * 1000;

export type Sent = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/** What the tests change of a delivery. */
export type Changed = {
  readonly secret?: string;
  readonly id?: string;
  /** When the attempt is signed. */
  readonly sentMs?: number;
};

const svixSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`;
const hexSecret = (): string => randomBytes(24).toString('hex');

const signSvix = (body: string, secret: string, { id = `msg_${randomUUID()}`, sentMs = startMs }: Changed): Sent => ({
  body,
  headers: {
    'svix-id': id,
    'svix-timestamp': String(Math.floor(sentMs / 1000)),
    'svix-signature': new Webhook(secret).sign(id, new Date(sentMs), body),
  },
});

export const hmac = (secret: string, text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

/** The signature of WorkOS in milliseconds, and of Stripe in seconds. */
const signParts = (header: string, body: string, secret: string, time: number): Sent => ({
  body,
  headers: { [header]: `t=${time},v1=${hmac(secret, `${time}.${body}`)}` },
});

export type Kind = 'clerk' | 'workos' | 'auth0' | 'propelauth' | 'kinde' | 'logto' | 'stripe' | 'supabase' | 'custom';
export type Happening = 'created' | 'deleted' | 'other';

/** What a provider is, for tests: how it is configured, and how it writes and signs an event. */
export type Sample = {
  /** Settings beside `kind` and the secrets. */
  readonly more: object;
  readonly newSecret: () => string;
  /** The event. `at` is its moment in milliseconds. */
  readonly event: (happening: Happening, org: string, at: number, id: string) => object;
  readonly sign: (event: object, secret: string, changed: Changed) => Sent | Promise<Sent>;
  readonly signsBody: boolean;
  /** The tenant expression that the preset of the provider has. */
  readonly tenant: string;
  /** The claims of a session of that organization. */
  readonly session: (org: string) => object;
  /** The event of a test that the dashboard sends, if it can be told. */
  readonly test?: object;
};

/** The claims that the presets of the providers declare. An event has only some members of an object. */
export const sessionClaims = {
  o: { id: 'string', rol: 'string', 'slg?': 'string' },
  org_code: 'string',
  organization_id: 'string',
  org_member_info: { org_id: 'string', user_role: 'string' },
  org_id_to_org_member_info: 'map<string, { org_id: string, user_role: string }>',
  app_metadata: { 'org_id?': 'string', provider: 'string' },
};

const iso = (at: number): string => new Date(at).toISOString();

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const kindeKeys = { kid: '4c:fa:9e:d6', publicKey, privateKey };

/** The webhook of Kinde: a JWT without `iss` and `exp`. */
export const signKinde = (event: object, key: KeyObject = privateKey, header: object = {}): Promise<string> =>
  new SignJWT({ ...event }).setProtectedHeader({ alg: 'RS256', kid: kindeKeys.kid, typ: 'JWT', ...header }).sign(key);

const types = (created: string, deleted: string, other: string): Readonly<Record<Happening, string>> => ({
  created,
  deleted,
  other,
});
const usualTypes = types('organization.created', 'organization.deleted', 'organization.updated');
const logtoTypes = types('Organization.Created', 'Organization.Deleted', 'Organization.Data.Updated');
const propelTypes = types('org.created', 'org.deleted', 'org.updated');

export const samples: Readonly<Record<Kind, Sample>> = {
  clerk: {
    more: {},
    newSecret: svixSecret,
    event: (happening, org, at) => ({
      data:
        happening === 'deleted'
          ? { deleted: true, id: org, object: 'organization' }
          : { id: org, name: 'Acme Inc', slug: 'acme-inc', object: 'organization', created_at: at, updated_at: at },
      event_attributes: { http_request: { client_ip: '0.0.0.0', user_agent: 'Mozilla/5.0' } },
      instance_id: 'ins_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
      object: 'event',
      timestamp: at,
      type: usualTypes[happening],
    }),
    sign: (event, secret, changed) => signSvix(JSON.stringify(event), secret, changed),
    signsBody: true,
    tenant: 'has(claims.o) ? claims.o.id : claims.org_id',
    session: (org) => ({ v: 2, o: { id: org, rol: 'admin', slg: 'acme-inc' } }),
  },
  workos: {
    more: {},
    newSecret: hexSecret,
    event: (happening, org, at, id) => ({
      object: 'event',
      id: `event_${id}`,
      event: usualTypes[happening],
      data: { object: 'organization', id: org, name: 'Acme Inc', external_id: null, domains: [] },
      created_at: iso(at).replace('T', ' ').replace('Z', ''),
    }),
    sign: (event, secret, { sentMs = startMs }) => signParts('workos-signature', JSON.stringify(event), secret, sentMs),
    signsBody: true,
    tenant: 'claims.org_id',
    session: (org) => ({ org_id: org, role: 'member' }),
  },
  auth0: {
    more: {},
    newSecret: hexSecret,
    event: (happening, org, at, id) => ({
      specversion: '1.0',
      type: usualTypes[happening],
      source: 'urn:auth0:example.auth0app.com',
      id: `evt_${id}`,
      time: iso(at),
      data: { object: { id: org, name: 'acme', display_name: 'Acme Inc' } },
      a0tenant: 'example',
      a0stream: 'est_vjFVP5pVdfvsfRKatshkVV',
    }),
    sign: (event, secret) => ({ body: JSON.stringify(event), headers: { authorization: `Bearer ${secret}` } }),
    signsBody: false,
    tenant: 'claims.org_id',
    session: (org) => ({ org_id: org }),
    test: {
      id: 'evt_test',
      type: 'organization.created',
      a0purpose: 'test',
      data: { object: { id: 'org_of_a_test' } },
    },
  },
  propelauth: {
    more: {},
    newSecret: svixSecret,
    event: (happening, org) => ({ event_type: propelTypes[happening], org_id: org, name: 'Acme Inc' }),
    sign: (event, secret, changed) => signSvix(JSON.stringify(event), secret, changed),
    signsBody: true,
    tenant:
      'has(claims.org_member_info) ? [claims.org_member_info.org_id] : claims.org_id_to_org_member_info.map(id, id)',
    session: (org) => ({ org_id_to_org_member_info: { [org]: { org_id: org, user_role: 'Owner' } } }),
  },
  kinde: {
    more: { issuer: 'https://acme.kinde.com' },
    newSecret: () => '',
    event: (happening, org, at, id) => ({
      data: { organization: { code: org, name: 'Acme Inc', handle: 'acme' } },
      event_id: `event_${id}`,
      source: 'admin',
      timestamp: iso(at),
      type: usualTypes[happening],
    }),
    sign: async (event) => ({ body: await signKinde(event), headers: { 'content-type': 'application/jwt' } }),
    signsBody: true,
    tenant: 'claims.org_code',
    session: (org) => ({ org_code: org }),
  },
  logto: {
    more: {},
    newSecret: hexSecret,
    event: (happening, org, at) => ({
      event: logtoTypes[happening],
      createdAt: iso(at),
      userAgent: 'Mozilla/5.0',
      ip: '0.0.0.0',
      path: happening === 'created' ? '/organizations' : `/organizations/${org}`,
      method: happening === 'created' ? 'POST' : 'DELETE',
      status: happening === 'created' ? 201 : 204,
      params: happening === 'created' ? {} : { id: org },
      matchedRoute: happening === 'created' ? '/organizations' : '/organizations/:id',
      ...(happening === 'created' ? { data: { tenantId: 'default', id: org, name: 'Acme Inc' } } : {}),
      hookId: 'k2h9d0',
    }),
    sign: (event, secret) => {
      const body = JSON.stringify(event);
      return { body, headers: { 'logto-signature-sha-256': hmac(secret, body) } };
    },
    signsBody: true,
    tenant: 'claims.organization_id',
    session: (org) => ({ organization_id: org }),
    test: {
      event: 'Organization.Created',
      hookId: 'k2h9d0',
      createdAt: iso(startMs),
      userAgent: 'fake-user-agent',
      path: '/fake-path/:id',
      method: 'POST',
      status: 200,
      params: { id: 'fake-id' },
      data: { result: 'success' },
    },
  },
  stripe: {
    more: { claims: { org_id: 'event.data.object.metadata.org' } },
    newSecret: () => `whsec_${randomBytes(24).toString('hex')}`,
    event: (happening, org, at, id) => ({
      id: `evt_${id}`,
      object: 'event',
      api_version: '2025-03-31.basil',
      created: Math.floor(at / 1000),
      data: {
        object: {
          id: 'sub_1MowQVLkdIwHu7ixeRlqHVzs',
          object: 'subscription',
          status: { created: 'active', deleted: 'canceled', other: 'past_due' }[happening],
          metadata: { org },
        },
      },
      livemode: true,
      pending_webhooks: 1,
      type: `customer.subscription.${happening === 'deleted' ? 'deleted' : 'updated'}`,
    }),
    sign: (event, secret, { sentMs = startMs }) =>
      signParts('stripe-signature', JSON.stringify(event), secret, Math.floor(sentMs / 1000)),
    signsBody: true,
    tenant: 'claims.org_id',
    session: (org) => ({ org_id: org }),
    test: {
      id: 'evt_00000000000000',
      object: 'event',
      created: startSeconds,
      type: 'customer.subscription.deleted',
      data: { object: { status: 'canceled', metadata: { org: 'org_of_a_test' } } },
    },
  },
  supabase: {
    more: { header: 'x-webhook-secret', table: 'organizations' },
    newSecret: hexSecret,
    event: (happening, org, at) => ({
      type: { created: 'INSERT', deleted: 'DELETE', other: 'UPDATE' }[happening],
      table: 'organizations',
      schema: 'public',
      record:
        happening === 'deleted' ? null : { id: org, name: 'Acme Inc', created_at: iso(at).replace('Z', '+00:00') },
      old_record: happening === 'created' ? null : { id: org, name: 'Acme Inc' },
    }),
    sign: (event, secret) => ({ body: JSON.stringify(event), headers: { 'x-webhook-secret': secret } }),
    signsBody: false,
    tenant: 'claims.app_metadata.org_id',
    session: (org) => ({ app_metadata: { provider: 'email', org_id: org } }),
  },
  custom: {
    more: {
      signature: {
        scheme: 'hmac',
        header: 'x-signature',
        prefix: 'sha256=',
        timestamp: { header: 'x-timestamp', unit: 'seconds' },
      },
      read: {
        id: 'event.id',
        kind: 'event.type == "account.opened" ? "signed-up" : event.type == "account.closed" ? "deleted" : ""',
        moment: 'event.at * 1000',
      },
      claims: { org_id: 'event.account.id' },
    },
    newSecret: hexSecret,
    event: (happening, org, at, id) => ({
      id,
      type: `account.${{ created: 'opened', deleted: 'closed', other: 'renamed' }[happening]}`,
      at: Math.floor(at / 1000),
      account: { id: org },
    }),
    sign: (event, secret, { sentMs = startMs }) => {
      const [body, time] = [JSON.stringify(event), String(Math.floor(sentMs / 1000))];
      return { body, headers: { 'x-timestamp': time, 'x-signature': `sha256=${hmac(secret, `${time}.${body}`)}` } };
    },
    signsBody: true,
    tenant: 'claims.org_id',
    session: (org) => ({ org_id: org }),
  },
};

export const kinds = Object.keys(samples) as Kind[];

export type Configured = { readonly provider: HookProvider; readonly secrets: readonly string[] };

/** Configures a provider as a file does, with fresh secrets. */
export const configure = (kind: Kind, overrides: object = {}, secrets = [samples[kind].newSecret()]): Configured => {
  const variables = secrets.map((_, index) => `SECRET_${index}`);
  const setting = hookProvidersSetting.parse({
    [kind]: {
      kind,
      ...(kind === 'kinde' ? {} : { secretVariables: variables }),
      ...samples[kind].more,
      ...overrides,
    },
  });
  const env = Object.fromEntries(variables.map((name, index) => [name, secrets[index]]));
  const { providers, faults } = loadHookProviders(setting, { env, isProduction: true }, (path) => path.join('.'));
  const [provider] = providers;
  if (provider === undefined || faults.length > 0) throw new Error(JSON.stringify(faults));
  return { provider, secrets };
};
