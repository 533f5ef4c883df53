/** The ledger stores template versions, so a content must have the same version in every release. */
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TemplateContent, templateVersionOf } from '../../src/gateway/provision/template-version.js';

/** The encoding of the first release, whose versions are stored in ledgers. */
const spell = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(spell);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, spell(member)]));
};

/** The version does not validate the content, so any JSON is used. `undefined` is a missing field. */
const json = fc.oneof(
  fc.jsonValue(),
  fc.object({ key: fc.oneof(fc.string(), fc.nat().map(String), fc.constant('__proto__')) }),
);
const content = fc.record({
  layout: json,
  filters: json,
  gridMargin: json,
  metrics: fc.uniqueArray(fc.record({ metricId: fc.uuid(), name: json, placement: json, definition: json }), {
    selector: ({ metricId }) => metricId,
  }),
}) as fc.Arbitrary<unknown> as fc.Arbitrary<TemplateContent>;

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
};

test('a version equals the digest that the first release gave the content', () => {
  fc.assert(
    fc.property(content, (template) => {
      const metrics = template.metrics.toSorted((a, b) => (a.metricId < b.metricId ? -1 : 1));
      const first = hash('sha256', JSON.stringify(spell({ ...template, metrics })), 'hex');
      expect(templateVersionOf(template)).toBe(first);
    }),
  );
});

test('the order of names and metrics does not change a version; a value does', () => {
  fc.assert(
    fc.property(content, (template) => {
      const version = templateVersionOf(template);
      const other = { ...(reversed(template) as TemplateContent), metrics: template.metrics.toReversed() };
      expect(templateVersionOf(other)).toBe(version);
      expect(templateVersionOf({ ...template, layout: [template.layout] as never })).not.toBe(version);
    }),
  );
});
