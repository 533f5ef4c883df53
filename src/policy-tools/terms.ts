/** The terms that a condition joins by && and ||, each for itself: which of them it is that does not hold. */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { type Compile, createCompilers, ExpressionFault, type PolicyVariables } from '../gateway/policy/expression.js';
import type { Policy } from '../gateway/policy/policy.js';

export type Term = { readonly expression: string; readonly result: 'true' | 'false' | 'undecided' };

const parser = new Environment({ unlistedVariablesAreDyn: true });

const leavesOf = (node: ASTNode): readonly ASTNode[] =>
  node.op === '&&' || node.op === '||' ? node.args.flatMap(leavesOf) : [node];

/** Where a term begins and ends with parentheses, the parser leaves one out: such a text is no expression. */
const isExpression = (text: string): boolean => {
  try {
    parser.parse(text);
    return true;
  } catch (error) {
    if (error instanceof ParseError) return false;
    throw error;
  }
};

const compilers = new WeakMap<Policy, Compile<PolicyVariables>>();

const compilerOf = (policy: Policy): Compile<PolicyVariables> => {
  const compile = compilers.get(policy) ?? createCompilers(policy.claims).policy;
  compilers.set(policy, compile);
  return compile;
};

const evaluate = (compile: Compile<PolicyVariables>, expression: string, variables: PolicyVariables): Term[] => {
  const compiled = compile({ source: expression, at: '', expected: ['bool'] });
  if (!('evaluate' in compiled)) return [];
  try {
    return [{ expression, result: compiled.evaluate(variables) === true ? 'true' : 'false' }];
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    return [{ expression, result: 'undecided' }];
  }
};

/** None for a condition of one term. */
export const evaluateTerms = (policy: Policy, when: string, variables: PolicyVariables): readonly Term[] => {
  const leaves = leavesOf(parser.parse(when).ast);
  if (leaves.length < 2) return [];
  const compile = compilerOf(policy);
  return leaves
    .map(({ start, end }) => when.slice(start, end))
    .filter(isExpression)
    .flatMap((expression) => evaluate(compile, expression, variables));
};
