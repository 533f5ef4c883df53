/**
 * Leaves the defaults of fields out that a release has added. Two releases that read the same policy then give it the
 * same meaning: otherwise each start of the one would revoke all tokens of the other.
 */
import type { PolicyDocument } from './schema.js';

/** The fields with a default that release 0.2.0 does not know, each with its default as JSON. A new one is added here. */
const defaults: Readonly<Record<string, string>> = {
  channels: '[]',
  addressDomains: '[]',
  hideColumns: '[]',
  maskColumns: '{}',
  quota: '{}',
  knownTenants: 'false',
};

/** Of one object of the policy's own form; what is in it may have names of users, and stays. */
export const withoutDefaults = (part: object): object =>
  Object.fromEntries(Object.entries(part).filter(([name, value]) => defaults[name] !== JSON.stringify(value)));

type Parts = Pick<PolicyDocument['tenants'][number], 'rules' | 'restrictions'>;

const placesWithoutDefaults = ({ rules, restrictions }: Parts) => ({
  rules: rules.map((rule) => ({ ...rule, grant: withoutDefaults(rule.grant) })),
  restrictions: restrictions.map((one) => ({ ...one, restrict: withoutDefaults(one.restrict) })),
});

export const overrideWithoutDefaults = (override: PolicyDocument['tenants'][number]): object => ({
  ...override,
  ...placesWithoutDefaults(override),
});

export const partsWithoutDefaults = ({ tenants, ...parts }: Parts & Pick<PolicyDocument, 'tenants'>): object => ({
  ...placesWithoutDefaults(parts),
  tenants: tenants.map(overrideWithoutDefaults),
});
