/**
 * The kinds of users that a policy tells apart, from its text alone: each role that a condition names, and each
 * restriction that no role decides. No session is asked for, and no claim but the roles is known.
 */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { evaluateBoolean } from '../policy/decide.js';
import { type Expression, ExpressionFault, type PolicyVariables } from '../policy/expression.js';
import type { Policy } from '../policy/policy.js';
import type { RestrictionRule } from '../policy/rules.js';

export type Profile = {
  /** Empty: users of any role to whom the restrictions apply. */
  readonly roles: readonly string[];
  /** Those that certainly apply. Empty: none does. */
  readonly restrictions: readonly RestrictionRule[];
};

const parser = new Environment({ unlistedVariablesAreDyn: true });

const isRoles = (node: ASTNode): boolean =>
  node.op === '.' && node.args[1] === 'roles' && node.args[0].op === 'id' && node.args[0].args === 'user';

const nodesIn = (value: unknown): readonly ASTNode[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null || !('op' in value)) return [];
  const node = value as ASTNode;
  return [node, ...nodesIn(node.args)];
};

/** The roles that the condition looks for, as in `"analyst" in user.roles`. */
const rolesIn = ({ source }: Expression<PolicyVariables>): readonly string[] =>
  nodesIn(parser.parse(source).ast).flatMap((node) => {
    if (node.op !== 'in') return [];
    const [value, list] = node.args;
    return value.op === 'value' && typeof value.args === 'string' && isRoles(list) ? [value.args] : [];
  });

const variablesOf = (roles: readonly string[]): PolicyVariables => ({
  user: { id: '', issuer: '', roles: [...roles], claims: {} },
  tenant: { id: '' },
  now: new Date(0),
});

/** Undefined: it depends on more than the roles. */
const decide = (when: Expression<PolicyVariables>, roles: readonly string[]): boolean | undefined => {
  if (when.readsNow) return undefined;
  try {
    return evaluateBoolean(when, variablesOf(roles));
  } catch (error) {
    if (error instanceof ExpressionFault) return undefined;
    throw error;
  }
};

/**
 * Returns the profiles of users who may open the template, in the order in which the policy names their roles. A role that
 * opens nothing by itself, such as one that only restricts, is looked at beside the first one that opens the template.
 */
export const profilesOf = ({ rules, restrictions }: Policy, template: string): readonly Profile[] => {
  const granting = rules.filter(({ grant }) => grant.templates.includes(template));
  const opens = (roles: readonly string[]): boolean => granting.some(({ when }) => decide(when, roles) !== false);
  const rolesOf = (parts: readonly { readonly when: Expression<PolicyVariables> }[]): readonly string[] =>
    parts.flatMap(({ when }) => rolesIn(when));
  const [first] = rolesOf(granting).filter((role) => opens([role]));
  const ofRoles = [...new Set([...rolesOf(granting), ...rolesOf(restrictions)])].flatMap((role): readonly Profile[] => {
    const roles = opens([role]) || first === undefined ? [role] : [first, role];
    const applied = restrictions.filter(({ when }) => decide(when, roles) === true);
    // A role that changes nothing beside another one is no kind of user.
    const isSeen = opens(roles) && (roles.length === 1 || applied.some(({ when }) => rolesIn(when).includes(role)));
    return isSeen ? [{ roles, restrictions: applied }] : [];
  });
  const others = restrictions.filter((one) => !ofRoles.some((profile) => profile.restrictions.includes(one)));
  return [...ofRoles, ...others.map((one): Profile => ({ roles: [], restrictions: [one] }))];
};
