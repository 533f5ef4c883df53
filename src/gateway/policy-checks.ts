/** Faults of a policy that its shape allows: names that do not exist, that occur twice, that are spelt in two ways. */
import type { PolicyDocument } from './policy-schema.js';
import type { Faults, Source } from './policy-source.js';

const checkTemplateNames = (document: PolicyDocument, source: Source, faults: Faults): void => {
  const known = Object.keys(document.templates);
  const check = (name: string, offset: number) => {
    if (Object.hasOwn(document.templates, name)) return;
    faults.add(offset, `"${name}" is not one of this policy's templates (${known.join(', ')})`);
  };
  document.rules.forEach(({ grant }, rule) => {
    grant.templates.forEach((name, index) => {
      check(name, source.offsetOf(['rules', rule, 'grant', 'templates', index]));
    });
  });
  document.onSignUp.forEach((name, index) => {
    check(name, source.offsetOf(['onSignUp', index]));
  });
  document.restrictions.forEach(({ restrict }, index) => {
    const path = ['restrictions', index, 'restrict', 'hideMetrics'];
    for (const name of Object.keys(restrict.hideMetrics)) check(name, source.offsetOfKey(path, name));
  });
};

/** One name spelt in two ways would be two restrictions for us and one filter, or two, for the service. */
const checkSpelling = (document: PolicyDocument, source: Source, faults: Faults): void => {
  for (const field of ['dashboardFilters', 'rls', 'appFilters'] as const) {
    const spellings = new Map<string, string>();
    document.restrictions.forEach(({ restrict }, index) => {
      for (const name of Object.keys(restrict[field])) {
        const first = spellings.get(name.toLowerCase()) ?? name;
        spellings.set(name.toLowerCase(), first);
        if (first === name) continue;
        const offset = source.offsetOfKey(['restrictions', index, 'restrict', field], name);
        faults.add(offset, `"${name}" is spelt "${first}" above; spell one name in one way`);
      }
    });
  }
};

const checkUnique = (document: PolicyDocument, source: Source, faults: Faults): void => {
  for (const list of ['rules', 'restrictions'] as const) {
    const names = document[list].map(({ name }) => name);
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index) {
        faults.add(source.offsetOf([list, index, 'name']), `"${name}" names another entry of ${list} too; rename one`);
      }
    });
  }
};

/** Notes every such fault. */
export const checkPolicy = (document: PolicyDocument, source: Source, faults: Faults): void => {
  checkTemplateNames(document, source, faults);
  checkSpelling(document, source, faults);
  checkUnique(document, source, faults);
};
