/** Whom a revocation may be about, and which of these a token or a session depends on. */
import { createLru } from '../../platform/lru.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';

/** What an epoch is kept for. In the ledger, users and tenants stand under references that tell nothing of them. */
export type Scope = string;

/** Of a tenant that is known by its reference alone. */
export const tenantScopeOf = (tenantRef: string): Scope => `tenant:${tenantRef}`;

export type Subject = { readonly clientId: string; readonly userIdentifier: string };

export type Scopes = {
  readonly all: Scope;
  readonly dataApp: (name: string) => Scope;
  readonly policy: (digest: string) => Scope;
  readonly tenant: (clientId: string) => Scope;
  /** In every tenant. */
  readonly user: (userIdentifier: string) => Scope;
  readonly member: (subject: Subject) => Scope;
  /** Tenant, user, and this user in this tenant. */
  readonly ofSubject: (subject: Subject) => readonly Scope[];
  /** What is held of the client to answer faster. */
  readonly forget: ForgetClient;
};

const rememberedSubjects = 20_000;

/** Of two texts, one: different for every two pairs. */
const pairOf = (first: string, second: string): string => `${first.length}:${first}${second}`;

export const createScopes = ({ refOf }: Pick<Ledger, 'refOf'>): Scopes => {
  const remembered = createLru<string, readonly Scope[]>(rememberedSubjects);
  const tenant = (clientId: string): Scope => tenantScopeOf(refOf(clientId));
  const user = (userIdentifier: string): Scope => `user:${refOf(`user\n${userIdentifier}`)}`;
  const member = ({ clientId, userIdentifier }: Subject): Scope =>
    `member:${refOf(`member\n${pairOf(clientId, userIdentifier)}`)}`;
  return {
    all: 'all',
    dataApp: (name) => `data-app:${name}`,
    policy: (digest) => `policy:${digest}`,
    tenant,
    user,
    member,
    ofSubject: (subject) => {
      const key = pairOf(subject.clientId, subject.userIdentifier);
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const scopes = [tenant(subject.clientId), user(subject.userIdentifier), member(subject)];
      remembered.set(key, scopes);
      return scopes;
    },
    forget: (clientId) => dropWhere(remembered, (key) => key.startsWith(pairOf(clientId, ''))),
  };
};
