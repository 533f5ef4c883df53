/** The wire format of `POST /embed-token`: its body, its response, and the HTTP status of every error code. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type Code, Refusal } from '../../model/refusal.js';
import { identifier } from '../../platform/http/interface/fields.js';
import type { Status } from '../../platform/http/interface/operation.js';
import { hasBody, readJson } from '../../platform/http/wire/body-reader.js';

/** The optional body. Unknown fields are refused. The body can only reduce what the session may see. */
export const embedTokenBody = z.strictObject({
  tenant: identifier.optional(),
  /** Dashboard ids from an earlier response, or template names of the policy. */
  embeds: z.array(identifier).min(1).max(100).optional(),
  timezone: identifier.optional(),
  /** SHA-256 of a token that this session was given and that the service refuses, in lower-case hex. */
  replaces: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'it must be a SHA-256 in lower-case hex')
    .optional(),
});
/** What the session asks to see. */
export type EmbedTokenBody = Omit<EmbedTokenRequestBody, 'replaces'>;
export type EmbedTokenRequestBody = z.output<typeof embedTokenBody>;

/** Maximum size of a body in bytes. */
const maxBodyBytes = 4096;

export type GrantedEmbed = { readonly id: string; readonly name: string; readonly type: 'dashboard' | 'metric' };

/** The response. Times are ISO 8601. A request before `refreshAfter` gets the same token. */
export type EmbedTokenAnswer = {
  readonly token: string;
  readonly expiresAt: string;
  readonly refreshAfter: string;
  readonly embeds: readonly GrantedEmbed[];
  readonly serviceUrl: string;
  /** The tenant that the token is of, and those that the session may choose from; only if these are several. */
  readonly tenant?: string;
  readonly tenants?: readonly { readonly id: string; readonly name?: string }[];
};

/** Every error code of the gateway, with its HTTP status. A body that is too large is 413. */
export const gatewayErrors = {
  INVALID_REQUEST_BODY: 400,
  AUTHENTICATION_ERROR: 401,
  SESSION_INVALID: 401,
  NO_TENANT: 403,
  NO_POLICY: 403,
  POLICY_UNDECIDED: 403,
  EMBED_NOT_GRANTED: 403,
  TENANT_SUSPENDED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_SUPPORTED: 409,
  POLICY_CHANGED: 409,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_UNAVAILABLE: 503,
} as const satisfies Partial<Record<Code, Status>>;
export type GatewayCode = keyof typeof gatewayErrors;

/** Whether the code is an error code of the gateway. */
export const isGatewayCode = (code: string): code is GatewayCode => Object.hasOwn(gatewayErrors, code);

const explain = (error: z.ZodError): string => {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `"${key.slice(0, 64)}"`).join(', ');
    return `The body has the unknown field ${names}. Allowed are tenant, embeds, timezone and replaces: who the client is and what it may see comes from the session and the policy alone.`;
  }
  const where =
    issue === undefined || issue.path.length === 0 ? 'The body' : `The body's field ${issue.path.join('.')}`;
  return `${where} is not valid: ${issue?.message ?? 'unknown fault'}. Send {"tenant"?: string, "embeds"?: [string], "timezone"?: string, "replaces"?: string}, or no body.`;
};

/** Decodes a parsed JSON body. Throws INVALID_REQUEST_BODY with the name of the invalid field. */
export const decodeBody = (body: unknown): EmbedTokenRequestBody => {
  const result = embedTokenBody.safeParse(body);
  if (result.success) return result.data;
  throw new Refusal('INVALID_REQUEST_BODY', explain(result.error));
};

/** Returns {} for a request without a body. Throws INVALID_REQUEST_BODY. */
export const readBody = (request: IncomingMessage): EmbedTokenRequestBody | Promise<EmbedTokenRequestBody> =>
  hasBody(request) ? readJson(request, maxBodyBytes).then(decodeBody) : {};
