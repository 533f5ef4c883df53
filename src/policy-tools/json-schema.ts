/** The format of policy files as JSON Schema, so that editors complete and describe fields. */
import { z } from 'zod';
import { policySchema, tenantFileSchema } from '../gateway/policy/schema.js';

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
