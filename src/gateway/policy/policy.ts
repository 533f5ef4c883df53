/** A loaded policy, as the other steps of the gateway use it. load.ts creates it from its files. */
import type { ClaimSchema } from './claim-values.js';
import type { Expression, SessionVariables } from './expression.js';
import type { PolicyName } from './names.js';
import type { RestrictionRule, Rule } from './rules.js';
import type { TemplateSettings } from './schema.js';
import type { SourceExpressions, SourceStatement } from './source-names.js';
import type { TenantRule } from './tenant-rule.js';
import type { PolicyFile } from './texts.js';

export type { RestrictionRule, Rule } from './rules.js';

export type Template = {
  readonly template: string;
  readonly name: string;
  /** The name without overrides of a tenant. */
  readonly commonName: string;
  readonly accessSettings: TemplateSettings & { readonly datamartName: string };
  readonly provisioning: 'required' | 'best-effort';
  /** The source that tokens read which open this template. */
  readonly source: SourceExpressions;
};

/** A checked policy for tenants without overrides. `policyFor` returns the policy of a tenant. */
export type Policy = {
  readonly file: string;
  /** SHA-256 of the policy's file, or of all its files if it has `tenantFiles`. */
  readonly digest: string;
  /** SHA-256 of the content without comments and layout. */
  readonly meaning: string;
  /** The files that the policy was read from. The policy file is the first. */
  readonly files: readonly PolicyFile[];
  /** The names that only the service can know, of the overrides too. */
  readonly names: readonly PolicyName[];
  readonly dataApp: string;
  readonly workspace: string;
  readonly datamart: string;
  /** The declared claims: the text of each type by the claim's name. */
  readonly claims: ClaimSchema;
  readonly tenant: TenantRule;
  readonly roles: Expression<SessionVariables>;
  /** Where the policy asks that only tenants of the table of tenants are served, as `file:line:column`. Null: it does not. */
  readonly knownTenantsAt: string | null;
  readonly expiryMinutes: number;
  /** The templates by name, in the file's order. */
  readonly templates: ReadonlyMap<string, Template>;
  /** The templates that are copied for each tenant at sign-up. */
  readonly onSignUp: readonly Template[];
  readonly rules: readonly Rule[];
  readonly restrictions: readonly RestrictionRule[];
  /** What the overrides of this tenant say about its source. */
  readonly sources: readonly SourceStatement[];
  /** The policy of each tenant with overrides, by clientId. These policies have no overrides themselves. */
  readonly overrides: ReadonlyMap<string, Policy>;
};

/** Returns the policy of one tenant. */
export const policyFor = (policy: Policy, clientId: string): Policy => policy.overrides.get(clientId) ?? policy;
