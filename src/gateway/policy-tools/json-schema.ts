/** The format of policy files as JSON Schema, so that editors complete and describe fields. */
import { z } from 'zod';
import { isRecord } from '../../model/is-record.js';
import { policySchema, tenantFileSchema } from '../policy/schema.js';

const encode = (schema: z.ZodType, title: string) => ({
  title,
  ...z.toJSONSchema(schema, { io: 'input', reused: 'inline', override: ({ jsonSchema }) => void delete jsonSchema.id }),
});

/** Returns the schema of a policy file. */
export const policyJsonSchema = () => encode(policySchema, 'Guestlist policy');

/** Returns the schema of a file that a policy lists under `tenantFiles`. */
export const tenantFileJsonSchema = () => encode(tenantFileSchema, 'Guestlist overrides for tenants');

/** Returns the text of a schema file in `config`. */
export const writeJsonSchema = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;

export type PolicyWord = { readonly label: string; readonly detail: string };

/** Returns every field name and every fixed value of a policy file, each once, for completion in an editor. */
export const policyWords = (): readonly PolicyWord[] => {
  const words = new Map<string, string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isRecord(node)) return;
    for (const [name, field] of Object.entries(isRecord(node.properties) ? node.properties : {})) {
      const described = isRecord(field) && typeof field.description === 'string' ? field.description : 'field';
      words.set(name, described);
    }
    const values = Array.isArray(node.enum) ? node.enum : [node.const];
    for (const value of values) if (typeof value === 'string' && !words.has(value)) words.set(value, 'value');
    Object.values(node).forEach(visit);
  };
  visit(policyJsonSchema());
  return [...words].map(([label, detail]) => ({ label, detail }));
};
