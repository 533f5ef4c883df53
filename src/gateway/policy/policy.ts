/** A loaded policy: what the other steps read of it. load.ts makes one from its files. */
import type { ClaimSchema, Expression, SessionVariables } from './expression.js';
import type { RestrictionRule, Rule } from './rules.js';
import type { TemplateSettings } from './schema.js';
import type { TenantRule } from './tenant-rule.js';
import type { PolicyFile } from './texts.js';

export type { RestrictionRule, Rule } from './rules.js';

export type Template = {
  readonly template: string;
  readonly name: string;
  readonly accessSettings: TemplateSettings & { readonly datamartName: string };
  readonly provisioning: 'required' | 'best-effort';
};

/** A checked policy as it applies to tenants without overrides; `policyFor` returns the one of a tenant. */
export type Policy = {
  readonly file: string;
  /** SHA-256 of the file; where there are files beside it, of all of them. */
  readonly digest: string;
  /** SHA-256 of the content without comments and layout. */
  readonly meaning: string;
  /** The files that it was read from, its own file first. */
  readonly files: readonly PolicyFile[];
  readonly dataApp: string;
  readonly workspace: string;
  readonly datamart: string;
  readonly claims: ClaimSchema;
  readonly tenant: TenantRule;
  readonly roles: Expression<SessionVariables>;
  readonly expiryMinutes: number;
  /** By name, in the file's order. */
  readonly templates: ReadonlyMap<string, Template>;
  /** Templates that each tenant gets a copy of at sign-up. */
  readonly onSignUp: readonly Template[];
  readonly rules: readonly Rule[];
  readonly restrictions: readonly RestrictionRule[];
  /** The policy of each tenant with overrides, by clientId. These policies have no overrides themselves. */
  readonly overrides: ReadonlyMap<string, Policy>;
};

/** The policy of one tenant. */
export const policyFor = (policy: Policy, clientId: string): Policy => policy.overrides.get(clientId) ?? policy;
