/** The names of datasources and datamarts that a policy writes, as plain texts or as expressions. */

import type { Path } from '../../platform/files/yaml-source.js';
import type { Place } from './checks.js';
import type { Compile, Expression, PolicyVariables } from './expression.js';
import type { SourceNamesDocument } from './schema.js';

export const sourceFields = ['datasource', 'datamart'] as const;
export type SourceField = (typeof sourceFields)[number];

type Named<Value> = Readonly<Partial<Record<SourceField, Value>>>;

/** The names of a source. Both are given only if the datamart is of the datasource, which the service checks. */
export type SourceNames = Named<string>;

/** A plain name is an expression that gives it. `plain`: null if an expression is written. */
export type SourceExpression = Expression<PolicyVariables> & { readonly plain: string | null };

/** The compiled names of one rule, restriction, template or override. */
export type SourceExpressions = Named<SourceExpression>;

/** What names a source. `at` is the place of a condition, or else of the name. */
export type SourceStatement = {
  readonly of: 'rule' | 'restriction' | 'template' | 'override';
  readonly name: string;
  readonly names: SourceExpressions;
  /** The condition under which it applies. Null: it always does. */
  readonly when: Expression<PolicyVariables> | null;
};

type CompileAt = (
  compile: Compile<PolicyVariables>,
  path: Path,
  text: string,
  expected: readonly string[],
) => Expression<PolicyVariables>;

/** Compiles the names that stand at `path`. */
export const compileSource = (
  compileAt: CompileAt,
  compile: Compile<PolicyVariables>,
  { source }: Pick<Place, 'source'>,
  path: Path,
  document: SourceNamesDocument,
): SourceExpressions => {
  const names: Partial<Record<SourceField, SourceExpression>> = {};
  for (const field of sourceFields) {
    const said = document[field];
    if (said === undefined) continue;
    names[field] =
      typeof said === 'string'
        ? plainName(said, source.at(source.offsetOf([...path, field])))
        : { ...compileAt(compile, [...path, field, 'expression'], said.expression, ['string']), plain: null };
  }
  return names;
};

const plainName = (name: string, at: string): SourceExpression => ({
  ...{ source: JSON.stringify(name), at, readsNow: false, readsUser: false, cost: 0, plain: name },
  evaluate: () => name,
});
