/** Loads a policy: YAML with CEL in it. Every fault of the file is found at once, with its place and a mend. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type ClaimSchema,
  type Compile,
  createCompilers,
  type Expression,
  type PolicyVariables,
  type SessionVariables,
} from './expression.js';
import { checkPolicy } from './policy-checks.js';
import {
  type GrantDocument,
  type PolicyDocument,
  policySchema,
  type RestrictDocument,
  type TemplateSettings,
} from './policy-schema.js';
import {
  createFaults,
  createSource,
  type Faults,
  type Path,
  PolicyFaults,
  type Source,
  schemaFaults,
} from './policy-source.js';
import { compileTenantRule, type TenantRule } from './tenant-rule.js';

export type Template = {
  readonly template: string;
  readonly name: string;
  readonly accessSettings: TemplateSettings & { readonly datamartName: string };
  readonly provisioning: 'required' | 'best-effort';
};

type PolicyExpression = Expression<PolicyVariables>;
type Values = ReadonlyMap<string, PolicyExpression>;

export type Rule = {
  readonly name: string;
  readonly when: PolicyExpression;
  readonly grant: Omit<GrantDocument, 'timezone'> & { readonly timezone: PolicyExpression | 'request' | null };
};

export type RestrictionRule = {
  readonly name: string;
  readonly when: PolicyExpression;
  readonly restrict: Omit<RestrictDocument, 'dashboardFilters' | 'rls' | 'appFilters'> & {
    readonly dashboardFilters: Values;
    readonly rls: Values;
    readonly appFilters: Values;
  };
};

/** A file of a policy, as it was read. */
export type PolicyFile = { readonly file: string; readonly text: string };

/** A checked policy. `digest` is the SHA-256 of the file. */
export type Policy = {
  readonly file: string;
  readonly digest: string;
  /** What it was read from. */
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
  /** What a tenant has before anybody logs in. */
  readonly onSignUp: readonly Template[];
  readonly rules: readonly Rule[];
  readonly restrictions: readonly RestrictionRule[];
};

/** Compiles the expression at a path; a fault is noted, and stands for the expression until all faults are thrown. */
const createCompile =
  (source: Source, faults: Faults) =>
  <Variables>(
    compile: Compile<Variables>,
    path: Path,
    text: string,
    expected: readonly string[],
    isPresenceRefused = false,
  ): Expression<Variables> => {
    const at = source.at(source.offsetOf(path));
    const result = compile({ source: text, at, expected, isPresenceRefused });
    if ('evaluate' in result) return result;
    faults.add(source.offsetIn(path, text, result.offset), `${path.join('.')}: ${result.message}`);
    return { source: text, at, evaluate: () => undefined };
  };
type CompileAt = ReturnType<typeof createCompile>;

const filterTypes = ['string', 'list<string>', 'int', 'double', 'bool'];

const compileRules = (
  document: PolicyDocument,
  compileAt: CompileAt,
  compile: Compile<PolicyVariables>,
): readonly Rule[] =>
  document.rules.map(({ name, when, grant }, index) => {
    const { timezone, ...rest } = grant;
    const path = ['rules', index];
    return {
      name,
      when: compileAt(compile, [...path, 'when'], when, ['bool']),
      grant: {
        ...rest,
        timezone:
          timezone === undefined || timezone === 'request'
            ? (timezone ?? null)
            : compileAt(compile, [...path, 'grant', 'timezone'], timezone, ['string']),
      },
    };
  });

const compileRestrictions = (
  document: PolicyDocument,
  compileAt: CompileAt,
  compile: Compile<PolicyVariables>,
): readonly RestrictionRule[] =>
  document.restrictions.map(({ name, when, restrict }, index) => {
    const path = ['restrictions', index];
    const compileValues = (field: 'dashboardFilters' | 'rls' | 'appFilters'): Values =>
      new Map(
        Object.entries(restrict[field]).map(([key, text]) => [
          key,
          compileAt(compile, [...path, 'restrict', field, key], text, filterTypes),
        ]),
      );
    return {
      name,
      when: compileAt(compile, [...path, 'when'], when, ['bool'], true),
      restrict: {
        ...restrict,
        dashboardFilters: compileValues('dashboardFilters'),
        rls: compileValues('rls'),
        appFilters: compileValues('appFilters'),
      },
    };
  });

const templatesOf = (document: PolicyDocument): ReadonlyMap<string, Template> =>
  new Map(
    Object.entries(document.templates).map(([template, { name, accessSettings, provisioning }]) => [
      template,
      {
        template,
        name,
        provisioning,
        accessSettings: { ...accessSettings, datamartName: document.datamart },
      },
    ]),
  );

const onSignUpOf = (document: PolicyDocument): readonly Template[] =>
  [...templatesOf(document).values()].filter(({ template }) => document.onSignUp.includes(template));

const compilePolicy = (document: PolicyDocument, source: Source, { file, text }: PolicyFile): Policy => {
  const faults = createFaults(source);
  const compileAt = createCompile(source, faults);
  const compilers = createCompilers(document.session.claims);
  checkPolicy(document, source, faults);
  const { session } = document;
  const policy: Policy = {
    file,
    digest: createHash('sha256').update(text).digest('hex'),
    files: [{ file, text }],
    dataApp: document.dataApp,
    workspace: document.workspace,
    datamart: document.datamart,
    claims: session.claims,
    tenant: compileTenantRule(session.tenant, {
      source,
      faults,
      file,
      compile: (path, text) => compileAt(compilers.session, path, text, ['string', 'list<string>']),
    }),
    roles: compileAt(compilers.session, ['session', 'roles'], session.roles, ['list<string>']),
    expiryMinutes: document.expiryMinutes,
    templates: templatesOf(document),
    onSignUp: onSignUpOf(document),
    rules: compileRules(document, compileAt, compilers.policy),
    restrictions: compileRestrictions(document, compileAt, compilers.policy),
  };
  const found = faults.list();
  if (found.length > 0) throw new PolicyFaults(found);
  return policy;
};

/** Reads a policy from its text; `file` is the name that faults and logs use. Throws PolicyFaults. */
export const loadPolicy = (text: string, file: string): Policy => {
  const source = createSource(text, file);
  if (source.document.errors.length > 0) {
    throw new PolicyFaults(
      source.document.errors.map(({ pos, message }) => ({
        at: source.at(pos[0]),
        message: `not valid YAML: ${message}`,
      })),
    );
  }
  const result = policySchema.safeParse(source.document.toJS());
  if (!result.success) throw new PolicyFaults(schemaFaults(source, result.error));
  return compilePolicy(result.data, source, { file, text });
};

/** Reads a policy file. Throws PolicyFaults, also where the file cannot be read. */
export const loadPolicyFile = (path: string): Policy => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
    throw new PolicyFaults([{ at: `${path}:1:1`, message: `the policy file cannot be read (${reason})` }]);
  }
  return loadPolicy(text, path);
};
