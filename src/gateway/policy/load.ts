/**
 * Loads a policy: YAML with CEL expressions. Reports every fault in all its files together, each with its place and a
 * solution.
 */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { schemaFaults } from '../../platform/files/schema-faults.js';
import { createSource, type Source } from '../../platform/files/yaml-source.js';
import { atOnce, type Sliced } from '../../platform/work/breathe.js';
import { checkPolicy, type Part, type Parts, type Place, type PlacedOverride } from './checks.js';
import { type Compile, createCompilers, type PolicyVariables } from './expression.js';
import { maxPolicyCost } from './expression-cost.js';
import { overrideWithoutDefaults, partsWithoutDefaults, withoutDefaults } from './later-defaults.js';
import { collectNames } from './names.js';
import { compileOverrides } from './overrides.js';
import type { Policy, Template } from './policy.js';
import { everythingNamed, type PolicyReach } from './reach.js';
import { compileRestrictions, compileRules, createCompile } from './rules.js';
import {
  type PolicyDocument,
  type PresetDocument,
  policySchema,
  presetSchema,
  type TenantFileDocument,
  tenantFileSchema,
} from './schema.js';
import { type ResolvedSession, resolveSession } from './session-part.js';
import { createFaults, type PolicyFault, PolicyFaults } from './source.js';
import { compileSource } from './source-names.js';
import { compileTenantRule } from './tenant-rule.js';
import { sourceExpressionsOf } from './tenant-source.js';
import { keptTexts, type PolicyFile, type PolicyTexts, readPolicyTexts } from './texts.js';

type Costed = { readonly source: string; readonly at: string; readonly cost: number };

const expressionsOf = ({ tenant, roles, rules, restrictions, templates, sources }: Policy): readonly Costed[] => [
  tenant.key,
  roles,
  ...rules.flatMap(({ when, grant: { timezone } }) =>
    timezone === null || timezone === 'request' ? [when] : [when, timezone],
  ),
  ...restrictions.flatMap(({ when, restrict: { dashboardFilters, rls, appFilters } }) => [
    when,
    ...[dashboardFilters, rls, appFilters].flatMap((values) => [...values.values()]),
  ]),
  ...sourceExpressionsOf({ rules, restrictions, templates, sources }),
];

const count = (steps: number): string => steps.toLocaleString('en');

/** Returns the fault of a policy that costs too much, else undefined. */
const faultOf = (policy: Policy): string | undefined => {
  const expressions = expressionsOf(policy);
  const total = expressions.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= maxPolicyCost) return undefined;
  const mostExpensive = expressions.toSorted((left, right) => right.cost - left.cost).slice(0, 3);
  const named = mostExpensive.map(({ at, source, cost }) => `${at} takes ${count(cost)} (${source})`);
  return `the expressions that one request evaluates take up to ${count(total)} steps together, and may take ${count(maxPolicyCost)}: make the most expensive ones cheaper, or use fewer rules. ${named.join('; ')}`;
};

/** Adds a fault if one request would need too many steps, with or without the overrides of a tenant. */
function* checkCost(policy: Policy, { source, faults }: Part): Sliced<void> {
  const own = faultOf(policy);
  if (own !== undefined) {
    faults.add(source.offsetOf(['rules']), own);
    return;
  }
  const seen = new Set<Policy>();
  for (const [clientId, overridden] of policy.overrides) {
    if (seen.has(overridden)) continue;
    seen.add(overridden);
    const fault = faultOf(overridden);
    if (fault !== undefined) faults.add(source.offsetOf(['tenants']), `with the overrides of "${clientId}", ${fault}`);
    yield;
  }
}

const compileTemplates = (
  { document, own }: Pick<Parts, 'document' | 'own'>,
  compile: Compile<PolicyVariables>,
): ReadonlyMap<string, Template> =>
  new Map(
    Object.entries(document.templates).map(([template, { name, accessSettings, provisioning, ...names }]) => [
      template,
      {
        ...{
          template,
          name,
          commonName: name,
          provisioning,
          accessSettings: { ...accessSettings, datamartName: document.datamart },
        },
        source: compileSource(createCompile(own.source, own.faults), compile, own, ['templates', template], names),
      },
    ]),
  );

type Digests = Pick<Policy, 'digest' | 'meaning' | 'files'>;

function* compilePolicy(
  parts: Parts,
  { file, digests, session }: Pick<PolicyDocuments, 'file' | 'digests'> & { readonly session: ResolvedSession<Place> },
  reach: PolicyReach,
): Sliced<Policy> {
  const { document, own, overrides } = parts;
  const compileAt = ({ source, faults }: Place) => createCompile(source, faults);
  const compilers = createCompilers(session.claims);
  const templates = compileTemplates(parts, compilers.policy);
  const policy: Policy = {
    file,
    ...digests,
    names: yield* collectNames(parts),
    dataApp: document.dataApp,
    workspace: document.workspace,
    datamart: document.datamart,
    claims: session.claims,
    tenant: compileTenantRule(session.tenant.value, {
      ...session.tenant.from,
      file,
      reach,
      compile: (path, text) =>
        compileAt(session.tenant.from)(compilers.session, path, text, ['string', 'list<string>']),
    }),
    roles: compileAt(session.roles.from)(compilers.session, ['session', 'roles'], session.roles.value, [
      'list<string>',
    ]),
    knownTenantsAt: document.knownTenants ? own.source.at(own.source.offsetOf(['knownTenants'])) : null,
    expiryMinutes: document.expiryMinutes,
    templates,
    onSignUp: [...templates.values()].filter(({ template }) => document.onSignUp.includes(template)),
    rules: yield* compileRules(own, compilers.policy),
    restrictions: yield* compileRestrictions(own, compilers.policy),
    sources: [],
    overrides: new Map(),
  };
  const whole = { ...policy, overrides: yield* compileOverrides(policy, overrides, compilers.policy) };
  yield* checkCost(whole, own);
  return whole;
}

type Read<Document> = {
  readonly source: Source;
  readonly document: Document | null;
  readonly faults: readonly PolicyFault[];
};

const readDocument = <Document>(source: Source, schema: z.ZodType<Document>): Read<Document> => {
  if (source.problems.length > 0) return { source, document: null, faults: source.problems };
  const { data, error } = schema.safeParse(source.content);
  return {
    source,
    document: data ?? null,
    faults: error === undefined ? [] : schemaFaults(source, error, schema, 'a policy'),
  };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const digestsOf = (own: PolicyFile, beside: readonly PolicyFile[], documents: readonly unknown[]): Digests => ({
  digest: sha256(beside.length === 0 ? own.text : JSON.stringify([own.text, ...beside.map(({ text }) => text)])),
  meaning: sha256(JSON.stringify(documents)),
  files: [own, ...beside],
});

const placeOverrides = (part: Part, tenants: PolicyDocument['tenants']): readonly PlacedOverride[] =>
  tenants.map((override, index) => ({
    ...part,
    path: ['tenants', index],
    rules: override.rules,
    restrictions: override.restrictions,
    override,
  }));

type PlacedDocument<Document> = { readonly source: Source; readonly document: Document };

/** The content of a policy's files, which fits their schemas. Expressions and names are not checked yet. */
export type PolicyDocuments = {
  readonly file: string;
  readonly own: PlacedDocument<PolicyDocument>;
  readonly preset: PlacedDocument<PresetDocument> | null;
  readonly beside: readonly PlacedDocument<TenantFileDocument>[];
  readonly digests: Digests;
};

/** The content that decides: the policy file's with what it takes from a preset, and those beside it. */
const meaningOf = (
  document: PolicyDocument,
  preset: PresetDocument | null,
  beside: readonly TenantFileDocument[],
): readonly unknown[] => {
  const own = { ...withoutDefaults(document), ...partsWithoutDefaults(document) };
  const others = beside.map((file) => ({ ...file, tenants: file.tenants.map(overrideWithoutDefaults) }));
  if (preset === null) return [own, ...others];
  const { claims, tenant, roles } = resolveSession(document, null, preset, null);
  return [{ ...own, session: { claims, tenant: tenant.value, roles: roles.value } }, ...others];
};

/** Reads the content of the texts, without their expressions. Throws PolicyFaults, also if a file could not be read. */
export const readDocuments = ({ own, source, beside, preset, faults }: PolicyTexts): PolicyDocuments => {
  if (own === null || source === null) throw new PolicyFaults(faults);
  const read = readDocument(source, policySchema);
  const files = beside.map(({ text, file }) => readDocument(createSource(text, file), tenantFileSchema));
  const taken = preset === null ? null : readDocument(createSource(preset.text, preset.file), presetSchema);
  const shape = [...read.faults, ...faults, ...files.flatMap((file) => file.faults), ...(taken?.faults ?? [])];
  const { document } = read;
  if (document === null || shape.length > 0) throw new PolicyFaults(shape);
  const documents = files.flatMap((file) => (file.document === null ? [] : [{ ...file, document: file.document }]));
  const meaning = meaningOf(
    document,
    taken?.document ?? null,
    documents.map((file) => file.document),
  );
  return {
    file: own.file,
    own: { source, document },
    beside: documents,
    preset: taken === null || taken.document === null ? null : { source: taken.source, document: taken.document },
    digests: digestsOf(own, preset === null ? beside : [...beside, preset], meaning),
  };
};

/** Compiles the content of a policy's files. Throws PolicyFaults. */
export function* compileDocuments(documents: PolicyDocuments, reach: PolicyReach): Sliced<Policy> {
  const { own, beside, preset } = documents;
  const { document, source } = own;
  const presetPart = preset === null ? null : { ...preset, faults: createFaults(preset.source), path: [] };
  const ownPart = { source, faults: createFaults(source), path: [], ...document };
  const parts = beside.map((file) => ({
    part: { source: file.source, faults: createFaults(file.source), path: [], rules: [], restrictions: [] },
    tenants: file.document.tenants,
  }));
  const placed = [
    ...placeOverrides(ownPart, document.tenants),
    ...parts.flatMap(({ part, tenants }) => placeOverrides(part, tenants)),
  ];
  const all: Parts = { document, own: ownPart, overrides: placed };
  yield* checkPolicy(all);
  const session = resolveSession(document, ownPart, presetPart?.document ?? null, presetPart ?? ownPart);
  const policy = yield* compilePolicy(all, { ...documents, session }, reach);
  const found = [ownPart, ...parts.map(({ part }) => part), ...(presetPart === null ? [] : [presetPart])].flatMap(
    ({ faults }) => faults.list(),
  );
  if (found.length > 0) throw new PolicyFaults(found);
  return policy;
}

/**
 * Loads a policy from its text. `file` is its name in faults and logs. `beside` has the texts of its `tenantFiles`, which
 * are not read again. Throws PolicyFaults.
 */
export const loadPolicy = (
  text: string,
  file: string,
  beside: readonly PolicyFile[] = [],
  reach: PolicyReach = everythingNamed,
): Policy => loadPolicyTexts(keptTexts([{ file, text }, ...beside]), reach);

/** Loads a policy from the texts of its files. Throws PolicyFaults, also if a file could not be read. */
export const loadPolicyTexts = (texts: PolicyTexts, reach: PolicyReach): Policy =>
  atOnce(compileDocuments(readDocuments(texts), reach));

/** Loads a policy file and the files that it refers to. Throws PolicyFaults, also if a file cannot be read. */
export const loadPolicyFile = (path: string): Policy => loadPolicyTexts(readPolicyTexts(path), everythingNamed);
