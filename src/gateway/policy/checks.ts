/** Finds faults of a policy that the schema cannot find: unknown names, duplicate names, one name in two spellings. */

import type { Path, Source } from '../../platform/files/yaml-source.js';
import { eachInSteps, type Sliced } from '../../platform/work/breathe.js';
import type { OverrideDocument, PolicyDocument } from './schema.js';
import type { Faults } from './source.js';

/** A place in a file, and the list that collects the faults of that file. */
export type Place = { readonly source: Source; readonly faults: Faults; readonly path: Path };

/** The rules and restrictions of the policy file, or of one override. */
export type Part = Place & Pick<PolicyDocument, 'rules' | 'restrictions'>;

/** An override with its place, in the policy's own file or in one of `tenantFiles`. */
export type PlacedOverride = Part & { readonly override: OverrideDocument };

export type Parts = {
  readonly document: PolicyDocument;
  readonly own: Part;
  readonly overrides: readonly PlacedOverride[];
};

const quoteAll = (names: Iterable<string>): string => [...names].join(', ') || 'none';

const checkTemplate = ({ document }: Parts, { source, faults }: Place, path: Path, name: string, isKey = false) => {
  if (Object.hasOwn(document.templates, name)) return;
  const offset = isKey ? source.offsetOfKey(path, name) : source.offsetOf(path);
  faults.add(offset, `"${name}" is not one of this policy's templates (${quoteAll(Object.keys(document.templates))})`);
};

const checkGrants = (parts: Parts, part: Part): void => {
  part.rules.forEach(({ grant }, rule) => {
    const path = [...part.path, 'rules', rule, 'grant'];
    grant.templates.forEach((name, index) => {
      checkTemplate(parts, part, [...path, 'templates', index], name);
    });
    grant.embeds.forEach((name, index) => {
      if (!Object.hasOwn(parts.document.templates, name)) return;
      const offset = part.source.offsetOf([...path, 'embeds', index]);
      part.faults.add(offset, `"${name}" is a template, which no tenant may see itself; write it under templates`);
    });
  });
};

const checkSignUp = (parts: Parts): void => {
  parts.document.onSignUp.forEach((name, index) => {
    checkTemplate(parts, parts.own, ['onSignUp', index], name);
  });
};

/** Reports names under `hideMetrics` that are neither a template nor a granted embed: they would hide nothing. */
const checkHidden = (parts: Parts, part: Part, embeds: ReadonlySet<string>): void => {
  part.restrictions.forEach(({ restrict }, index) => {
    const path = [...part.path, 'restrictions', index, 'restrict', 'hideMetrics'];
    for (const name of Object.keys(restrict.hideMetrics)) {
      if (embeds.has(name)) continue;
      checkTemplate(parts, part, path, name, true);
    }
  });
};

/**
 * Reports one filter name in two spellings. The service ignores case in these names, so two restrictions here would be
 * one filter there.
 */
const checkSpelling = (all: readonly Part[]): void => {
  for (const field of ['dashboardFilters', 'rls', 'appFilters'] as const) {
    const spellings = new Map<string, string>();
    for (const { restrictions, source, faults, path } of all) {
      restrictions.forEach(({ restrict }, index) => {
        for (const name of Object.keys(restrict[field])) {
          const first = spellings.get(name.toLowerCase()) ?? name;
          spellings.set(name.toLowerCase(), first);
          if (first === name) continue;
          const offset = source.offsetOfKey([...path, 'restrictions', index, 'restrict', field], name);
          faults.add(offset, `"${name}" is spelt "${first}" elsewhere; spell one name in one way`);
        }
      });
    }
  }
};

/**
 * Reports duplicate names. Names must be unique within a list, and names of an override must differ from those of the
 * policy.
 */
const checkUnique = (part: Part, taken: Part | null): void => {
  for (const list of ['rules', 'restrictions'] as const) {
    const known = new Set(taken?.[list].map(({ name }) => name));
    part[list].forEach(({ name }, index) => {
      if (known.has(name)) {
        const offset = part.source.offsetOf([...part.path, list, index, 'name']);
        part.faults.add(offset, `"${name}" names another entry of ${list} too; rename one`);
      }
      known.add(name);
    });
  }
};

const checkSwitchedOff = ({ document }: Parts, { override, source, faults, path }: PlacedOverride): void => {
  override.withoutRules.forEach((name, index) => {
    if (document.rules.some((rule) => rule.name === name)) return;
    const offset = source.offsetOf([...path, 'withoutRules', index]);
    const isRestriction = document.restrictions.some((restriction) => restriction.name === name);
    faults.add(
      offset,
      isRestriction
        ? `"${name}" is a restriction, which applies to every tenant; give it a narrower "when" in the policy instead`
        : `"${name}" is not one of the policy's rules (${quoteAll(document.rules.map((rule) => rule.name))})`,
    );
  });
};

/** Reports two names for one template and tenant. */
const checkNames = (parts: Parts): void => {
  const named = new Map<string, string>();
  for (const part of parts.overrides) {
    const { override, source, faults, path } = part;
    for (const template of Object.keys(override.templates)) {
      checkTemplate(parts, part, [...path, 'templates'], template, true);
      for (const clientId of new Set(override.clientIds)) {
        const key = JSON.stringify([clientId, template]);
        const first = named.get(key);
        named.set(key, override.name);
        if (first === undefined) continue;
        const offset = source.offsetOfKey([...path, 'templates'], template);
        faults.add(offset, `"${template}" has another name for "${clientId}" in "${first}" already; keep one of them`);
      }
    }
  }
};

/** Checks the whole policy. Adds each fault to the list of its file. */
export function* checkPolicy(parts: Parts): Sliced<void> {
  const all = [parts.own, ...parts.overrides];
  const embeds = new Set(all.flatMap(({ rules }) => rules.flatMap(({ grant }) => grant.embeds)));
  yield* eachInSteps(all, (part) => {
    checkGrants(parts, part);
    checkHidden(parts, part, embeds);
    checkUnique(part, part === parts.own ? null : parts.own);
  });
  yield* eachInSteps(parts.overrides, (override) => checkSwitchedOff(parts, override));
  yield* eachInSteps([checkSignUp, () => checkSpelling(all), checkNames], (check) => check(parts));
}
