/** The shape of policy files as JSON Schema, for editors: completion, and a word on each field. */
import { z } from 'zod';
import { policySchema, tenantFileSchema } from '../gateway/policy/schema.js';

const encode = (schema: z.ZodType, title: string) => ({
  title,
  ...z.toJSONSchema(schema, { io: 'input', reused: 'inline', override: ({ jsonSchema }) => void delete jsonSchema.id }),
});

/** Of the policy's own file. */
export const policyJsonSchema = () => encode(policySchema, 'Guestlist policy');

/** Of a file that the policy's `tenantFiles` name. */
export const tenantFileJsonSchema = () => encode(tenantFileSchema, 'Guestlist overrides for tenants');

/** As the files in `config` hold them. */
export const writeJsonSchema = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;
