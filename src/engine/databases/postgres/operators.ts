import { nodesOf, type TreeNode } from '../../parsing/sql-tree.js';
import { namesOf } from './grammar.js';

const isNode = (value: unknown): value is TreeNode => typeof value === 'object' && value !== null;

/** What a BETWEEN stands for. */
const comparisons = ['>=', '<=', '<', '>'];

const operatorsOf = (name: string, node: TreeNode): readonly string[] => {
  switch (name) {
    case 'A_Expr': {
      const [own = ''] = namesOf(node.name);
      return /BETWEEN/.test(own) ? comparisons : [own];
    }
    case 'SubLink': {
      const [own = '='] = namesOf(node.operName);
      return [own];
    }
    case 'CaseExpr':
      return node.arg === undefined ? [] : ['='];
    case 'JoinExpr':
      return node.usingClause === undefined && node.isNatural !== true ? [] : ['='];
    case 'TypeCast':
      return [`::${namesOf(isNode(node.typeName) ? node.typeName.names : undefined).at(-1) ?? ''}`];
    default:
      return [];
  }
};

/** Every operator that the tree uses, by its name or by what stands for it, and every type that it casts to. */
export const operatorsIn = (tree: unknown): readonly string[] => {
  const found = new Set<string>();
  for (const { node, name } of nodesOf(tree)) for (const operator of operatorsOf(name, node)) found.add(operator);
  return [...found];
};
