/**
 * Applies a tenant's overrides to the policy. Overrides add rules and restrictions, disable rules, and set names and
 * the expiry. They can never remove a restriction of the policy.
 */

import type { Sliced } from '../../platform/work/breathe.js';
import type { PlacedOverride } from './checks.js';
import type { Compile, PolicyVariables } from './expression.js';
import type { Policy, Template } from './policy.js';
import { compileRestrictions, compileRules, createCompile, type RestrictionRule, type Rule } from './rules.js';
import type { OverrideDocument } from './schema.js';
import { compileSource, type SourceStatement } from './source-names.js';

type Override = Pick<OverrideDocument, 'withoutRules' | 'expiryMinutes' | 'templates'> & {
  readonly rules: readonly Rule[];
  readonly restrictions: readonly RestrictionRule[];
  readonly source: SourceStatement;
};

const applyTo = (policy: Policy, overrides: readonly Override[]): Policy => {
  const switchedOff = new Set(overrides.flatMap(({ withoutRules }) => withoutRules));
  const expiries = overrides.flatMap(({ expiryMinutes }) => expiryMinutes ?? []);
  const names = new Map(overrides.flatMap(({ templates }) => Object.entries(templates)));
  const named = (template: Template): Template => ({
    ...template,
    name: names.get(template.template)?.name ?? template.name,
  });
  return {
    ...policy,
    onSignUp: policy.onSignUp.map(named),
    expiryMinutes: expiries.length === 0 ? policy.expiryMinutes : Math.min(...expiries),
    templates: new Map([...policy.templates].map(([id, template]) => [id, named(template)])),
    // The override's rules come first, so that their timezone takes precedence.
    rules: [...overrides.flatMap(({ rules }) => rules), ...policy.rules.filter(({ name }) => !switchedOff.has(name))],
    restrictions: [...policy.restrictions, ...overrides.flatMap(({ restrictions }) => restrictions)],
    sources: overrides.map(({ source }) => source),
  };
};

/**
 * Returns the policy of each tenant that has overrides, by clientId. Tenants with the same overrides share one policy.
 */
export function* compileOverrides(
  policy: Policy,
  placed: readonly PlacedOverride[],
  compile: Compile<PolicyVariables>,
): Sliced<ReadonlyMap<string, Policy>> {
  const compiled: Override[] = [];
  for (const part of placed) {
    const { override, path } = part;
    const rules = yield* compileRules(part, compile);
    const names = compileSource(createCompile(part.source, part.faults), compile, part, path, override);
    const source: SourceStatement = { of: 'override', name: override.name, names, when: null };
    compiled.push({ ...override, source, rules, restrictions: yield* compileRestrictions(part, compile) });
  }
  const indexes = new Map<string, number[]>();
  placed.forEach(({ override }, index) => {
    for (const clientId of new Set(override.clientIds)) {
      const known = indexes.get(clientId);
      if (known === undefined) indexes.set(clientId, [index]);
      else known.push(index);
    }
  });
  const shared = new Map<string, Policy>();
  const ofClients = new Map<string, Policy>();
  for (const [clientId, own] of indexes) {
    const key = own.join(' ');
    const overrides = own.flatMap((index) => compiled[index] ?? []);
    const applied = shared.get(key) ?? applyTo(policy, overrides);
    shared.set(key, applied);
    ofClients.set(clientId, applied);
    yield;
  }
  return ofClients;
}
