/** Compiles the rules and restrictions of a policy, both from its file and from overrides. */

import type { Path, Source } from '../../platform/files/yaml-source.js';
import { eachInSteps, type Sliced } from '../../platform/work/breathe.js';
import type { Part } from './checks.js';
import type { Compile, Expression, PolicyVariables } from './expression.js';
import type { GrantDocument, RestrictDocument } from './schema.js';
import type { Faults } from './source.js';
import { compileSource, type SourceExpressions, type SourceField } from './source-names.js';

type PolicyExpression = Expression<PolicyVariables>;
type Values = ReadonlyMap<string, PolicyExpression>;

export type Rule = {
  readonly name: string;
  readonly when: PolicyExpression;
  readonly grant: Omit<GrantDocument, 'timezone' | SourceField> & {
    readonly timezone: PolicyExpression | 'request' | null;
    readonly source: SourceExpressions;
  };
};

export type RestrictionRule = {
  readonly name: string;
  readonly when: PolicyExpression;
  readonly restrict: Omit<RestrictDocument, 'dashboardFilters' | 'rls' | 'appFilters' | SourceField> & {
    readonly source: SourceExpressions;
    readonly dashboardFilters: Values;
    readonly rls: Values;
    readonly appFilters: Values;
  };
};

/**
 * Returns a function that compiles the expression at a path. A fault is added to `faults`, and the returned expression
 * is a placeholder: the load fails once all faults are collected.
 */
export const createCompile =
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
    return { source: text, at, readsNow: false, readsUser: false, cost: 0, evaluate: () => undefined };
  };

const filterTypes = ['string', 'list<string>', 'int', 'double', 'bool'];

export const compileRules = (part: Part, compile: Compile<PolicyVariables>): Sliced<readonly Rule[]> => {
  const compileAt = createCompile(part.source, part.faults);
  return eachInSteps(part.rules, ({ name, when, grant }, index): Rule => {
    const { timezone, datasource, datamart, ...rest } = grant;
    const path = [...part.path, 'rules', index];
    return {
      name,
      when: compileAt(compile, [...path, 'when'], when, ['bool']),
      grant: {
        ...rest,
        timezone:
          timezone === undefined || timezone === 'request'
            ? (timezone ?? null)
            : compileAt(compile, [...path, 'grant', 'timezone'], timezone, ['string']),
        source: compileSource(compileAt, compile, part, [...path, 'grant'], { datasource, datamart }),
      },
    };
  });
};

export const compileRestrictions = (
  part: Part,
  compile: Compile<PolicyVariables>,
): Sliced<readonly RestrictionRule[]> => {
  const compileAt = createCompile(part.source, part.faults);
  return eachInSteps(part.restrictions, ({ name, when, restrict }, index): RestrictionRule => {
    const path = [...part.path, 'restrictions', index];
    const { datasource, datamart, ...rest } = restrict;
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
        ...rest,
        source: compileSource(compileAt, compile, part, [...path, 'restrict'], { datasource, datamart }),
        dashboardFilters: compileValues('dashboardFilters'),
        rls: compileValues('rls'),
        appFilters: compileValues('appFilters'),
      },
    };
  });
};
