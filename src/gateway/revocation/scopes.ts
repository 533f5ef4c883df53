/** The scopes of revocation epochs: what a revocation can be about, and which scopes a token or a session depends on. */
import { createLru } from '../../platform/lru.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import type { Ledger } from '../ledger/ledger.js';

/** The key of an epoch in the ledger. It names users and tenants by keyed digests only. */
export type Scope = string;

/** The scope of a tenant, by its reference. */
export const tenantScopeOf = (tenantRef: string): Scope => `tenant:${tenantRef}`;

export type Subject = { readonly clientId: string; readonly userIdentifier: string };

export type Scopes = {
  readonly all: Scope;
  readonly dataApp: (name: string) => Scope;
  readonly policy: (digest: string) => Scope;
  readonly tenant: (clientId: string) => Scope;
  /** The user in every tenant. */
  readonly user: (userIdentifier: string) => Scope;
  /** The user in this tenant. */
  readonly member: (subject: Subject) => Scope;
  /** The scopes `tenant`, `user` and `member` of the subject. */
  readonly ofSubject: (subject: Subject) => readonly Scope[];
  /** Drops the remembered scopes of the client. */
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
