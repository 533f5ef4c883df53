/**
 * Which datasource or datamart a token reads. Rules, restrictions, templates and overrides of a tenant may each name
 * one. All statements that apply to a request must agree: a token reads one source, and which one is never guessed.
 * Nothing is sent if nothing names a source.
 */
import { identifier } from '../../platform/http/interface/fields.js';
import { type Expression, ExpressionFault, type PolicyVariables } from './expression.js';
import { type Policy, policyFor } from './policy.js';
import {
  type SourceExpressions,
  type SourceField,
  type SourceNames,
  type SourceStatement,
  sourceFields,
} from './source-names.js';

/** The expressions of all statements of a policy. */
export const sourceExpressionsOf = ({
  rules,
  restrictions,
  templates,
  sources,
}: Pick<Policy, 'rules' | 'restrictions' | 'templates' | 'sources'>): readonly Expression<PolicyVariables>[] =>
  [
    ...rules.map(({ grant }) => grant.source),
    ...restrictions.map(({ restrict }) => restrict.source),
    ...[...templates.values()].map(({ source }) => source),
    ...sources.map(({ names }) => names),
  ].flatMap((names) => Object.values(names));

/** One statement's value for a field. */
export type SaidSource = { readonly statement: SourceStatement; readonly value: string };
export type CombinedSource = Readonly<Record<SourceField, readonly SaidSource[]>>;

/** Thrown if the statements that apply name different sources. Contains no name, since it is logged. */
export class SourcesDisagree extends Error {
  override readonly name = 'SourcesDisagree';
  constructor(
    readonly field: SourceField,
    readonly from: readonly SourceStatement[],
    why = 'different ones are named by',
  ) {
    const named = from.map(({ of, name, names }) => `${of} ${JSON.stringify(name)} (${names[field]?.at ?? ''})`);
    super(`there is no one ${field} to read: ${why} ${named.join(', ')}`);
  }
}

const evaluateName = (expression: Expression<PolicyVariables>, variables: PolicyVariables): string => {
  const { data } = identifier.safeParse(expression.evaluate(variables));
  if (data === undefined) throw new ExpressionFault(expression.at, expression.source, 'not_a_name');
  return data;
};

/** Evaluates the statements that apply. Throws ExpressionFault. */
export const evaluateSources = (statements: readonly SourceStatement[], variables: PolicyVariables): CombinedSource => {
  const of = (field: SourceField) =>
    statements.flatMap((statement) => {
      const expression = statement.names[field];
      return expression === undefined ? [] : [{ statement, value: evaluateName(expression, variables) }];
    });
  return { datasource: of('datasource'), datamart: of('datamart') };
};

/**
 * Returns the one source of a token that opens these templates and embeds. Throws SourcesDisagree, also if only some of
 * the templates name a source: the others would be read from it too.
 */
export const sourceOf = (
  combined: CombinedSource,
  opened: { readonly templates: readonly { readonly template: string }[]; readonly embeds: readonly string[] },
): SourceNames => {
  const names: Partial<Record<SourceField, string>> = {};
  for (const field of sourceFields) {
    const said = combined[field];
    const [first] = said;
    if (first === undefined) continue;
    const from = said.map(({ statement }) => statement);
    if (said.some(({ value }) => value !== first.value)) throw new SourcesDisagree(field, from);
    if (from.every(({ of }) => of === 'template') && from.length < opened.templates.length + opened.embeds.length) {
      throw new SourcesDisagree(field, from, 'some of what is granted names none, beside');
    }
    names[field] = first.value;
  }
  return names;
};

/** Returns the statements of a policy about one user: of the rules and restrictions that match, and of the templates. */
export const statementsOf = (
  { sources }: Pick<Policy, 'sources'>,
  applying: {
    readonly rules: Policy['rules'];
    readonly restrictions: Policy['restrictions'];
    readonly templates: readonly { readonly template: string; readonly source: SourceExpressions }[];
  },
): readonly SourceStatement[] =>
  [
    ...applying.rules.map(({ name, when, grant }) => ({ of: 'rule' as const, name, when, names: grant.source })),
    ...applying.restrictions.map(({ name, when, restrict }) => ({
      ...{ of: 'restriction' as const, name, when },
      names: restrict.source,
    })),
    ...applying.templates.map(({ template, source }) => ({
      ...{ of: 'template' as const, name: template, when: null },
      names: source,
    })),
    ...sources,
  ].filter(({ names }) => Object.keys(names).length > 0);

/** Returns the datamarts that copies of the template may read: the policy's, and those that it names without expressions. */
export const datamartsOf = (base: Policy, template: string): readonly string[] => {
  const named = [...new Set([base, ...base.overrides.values()])].flatMap((policy) => {
    const own = policy.templates.get(template);
    return statementsOf(policy, { ...policy, templates: own === undefined ? [] : [own] }).flatMap(
      ({ names }) => names.datamart?.plain ?? [],
    );
  });
  return [...new Set([base.datamart, ...named])];
};

/** The source of a tenant's copy as far as no user decides it. `why`: it depends on who asks, or nobody may read it. */
export type TenantSource = { readonly names: SourceNames } | { readonly why: string };

const dependsOnUser = (statement: SourceStatement): TenantSource => ({
  why: `its source depends on who asks: ${statement.of} ${JSON.stringify(statement.name)} names it for some users`,
});

const isOfUser = ({ readsUser, readsNow }: Expression<PolicyVariables>): boolean => readsUser || readsNow;

/**
 * Returns the source that all users of the tenant read through its copy of a template. For what runs without a user:
 * provisioning, and checks of roll-outs. These must read nothing if `why` is given.
 */
export const tenantSourceOf = (base: Policy, clientId: string, template: string): TenantSource => {
  const policy = policyFor(base, clientId);
  const { rules, restrictions, templates } = policy;
  const own = templates.get(template);
  const statements = statementsOf(policy, { rules, restrictions, templates: own === undefined ? [] : [own] });
  const variables = variablesWithoutUser(clientId);
  const always: SourceStatement[] = [];
  const sometimes: SourceStatement[] = [];
  try {
    for (const statement of statements) {
      const { when, names } = statement;
      if (Object.values(names).some(isOfUser)) return dependsOnUser(statement);
      if (when !== null && isOfUser(when)) sometimes.push(statement);
      else if (when === null || when.evaluate(variables) === true) always.push(statement);
    }
    const fixed = sourceOf(evaluateSources(always, variables), { templates: [], embeds: [] });
    for (const statement of sometimes) {
      const said = sourceOf(evaluateSources([statement], variables), { templates: [], embeds: [] });
      if (sourceFields.some((field) => said[field] !== undefined && said[field] !== fixed[field]))
        return dependsOnUser(statement);
    }
    return { names: fixed };
  } catch (error) {
    if (!(error instanceof SourcesDisagree || error instanceof ExpressionFault)) throw error;
    return { why: `the policy gives it no source (${error.message}), so nobody of the tenant may read it` };
  }
};

/** Returns the sources that any user of the tenant may read through its copy of a template. */
export const tenantSourcesOf = (base: Policy, clientId: string, template: string): readonly SourceNames[] => {
  const source = tenantSourceOf(base, clientId, template);
  return 'names' in source ? [source.names] : datamartsOf(base, template).map((datamart) => ({ datamart }));
};

/** For expressions that read nothing of a user, and not the time. */
const variablesWithoutUser = (clientId: string): PolicyVariables => ({
  user: { id: '', issuer: '', roles: [], claims: {} },
  tenant: { id: clientId },
  now: new Date(0),
});
