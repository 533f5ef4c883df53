/** The JSON schema and the documents list all fields of a policy, with their current descriptions. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { policyJsonSchema, tenantFileJsonSchema, writeJsonSchema } from '../../src/gateway/policy-tools/json-schema.js';
import { createGuestToken } from '../../src/service/guest-tokens/contract/guest-tokens.js';

type Node = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | false;
  readonly anyOf?: readonly Node[];
};
type Field = { readonly path: string; readonly name: string; readonly node: Node };

const fieldsOf = (node: Node, path = ''): readonly Field[] => [
  ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
    { path: `${path}.${name}`, name, node: child },
    ...fieldsOf(child, `${path}.${name}`),
  ]),
  ...(node.items === undefined ? [] : fieldsOf(node.items, `${path}[]`)),
  ...(typeof node.additionalProperties === 'object' ? fieldsOf(node.additionalProperties, `${path}.*`) : []),
  ...(node.anyOf ?? []).flatMap((child) => fieldsOf(child, path)),
];

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const schema = policyJsonSchema() as Node;

describe('the JSON Schema of policies', () => {
  // After a change of the schema, run: npx vitest run test/gateway/policy-json-schema.test.ts -u
  it('equals the files in config', async () => {
    await expect(writeJsonSchema(policyJsonSchema())).toMatchFileSnapshot('../../config/policy.schema.json');
    await expect(writeJsonSchema(tenantFileJsonSchema())).toMatchFileSnapshot('../../config/tenants.schema.json');
  });

  it('the JSON Schema of policies describes every field', () => {
    const fields = fieldsOf(schema);
    expect(fields.length).toBeGreaterThan(60);
    expect(fields.filter(({ node }) => node.description === undefined).map(({ path }) => path)).toEqual([]);
  });

  it('is named by the shipped policy', () => {
    expect(read('config/policies/flights.yaml')).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/policy\.schema\.json\n/,
    );
  });
});

describe('the table of how rules combine', () => {
  const combined = fieldsOf(schema)
    .filter(({ path }) =>
      /^\.(tenants\[\]|rules\[\]\.grant|restrictions\[\]\.restrict)(\.accessPermissions)?\.\w+$/.test(path),
    )
    .map(({ name }) => name)
    .filter((name) => !['name', 'accessPermissions'].includes(name));
  const request = fieldsOf(createGuestToken.input.toJSONSchema({ io: 'input' }) as Node)
    .filter(({ path }) => /^\.((params|permissions)\.)?\w+$/.test(path))
    .map(({ name }) => name);

  it.each(['docs/reference/policies.md'])(
    'names in %s every field that grants, restricts or overrides, and every field of the token',
    (file) => {
      const rows = read(file)
        .split('\n')
        .filter((line) => line.startsWith('| '));
      const named = new Set(rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name)));
      expect(combined.length).toBeGreaterThan(20);
      expect([...new Set([...combined, ...request])].filter((name) => !named.has(name))).toEqual([]);
    },
  );

  it.each(['docs/reference/policies.md', 'config/policies/flights.yaml', 'src/gateway/policy/combine.ts'])(
    'names in %s every field that grants or restricts',
    (file) => {
      const text = read(file);
      const names = fieldsOf(schema)
        .filter(({ path }) => /^\.(rules\[\]\.grant|restrictions\[\]\.restrict)\.\w+$/.test(path))
        .map(({ name }) => name);
      expect(names.filter((name) => !text.includes(name))).toEqual([]);
    },
  );
});
