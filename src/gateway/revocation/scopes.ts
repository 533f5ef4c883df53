/**
 * The scopes of revocation epochs: the possible targets of a revocation, and the scopes that a token or a session
 * depends on.
 */
import { createLru } from '../../platform/work/lru.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';

/** The key of an epoch in the ledger. Contains users and tenants only as keyed digests. */
export type Scope = string;

/** Returns the scope of a tenant, given its reference. */
export const tenantScopeOf = (tenantRef: string): Scope => `tenant:${tenantRef}`;

export type Subject = { readonly clientId: string; readonly userIdentifier: string };

export type Scopes = {
  readonly all: Scope;
  readonly dataApp: (name: string) => Scope;
  readonly policy: (digest: string) => Scope;
  readonly tenant: (clientId: string) => Scope;
  /** Returns the scope of the user in all tenants. */
  readonly user: (userIdentifier: string) => Scope;
  /** Returns the scope of the user in this tenant. */
  readonly member: (subject: Subject) => Scope;
  /** Returns the scopes `tenant`, `user` and `member` of the subject. */
  readonly ofSubject: (subject: Subject) => readonly Scope[];
  /** Deletes the cached scopes of the client. */
  readonly forget: ForgetClient;
};

const rememberedSubjects = 20_000;

/** Joins two texts so that different pairs give different texts. */
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
