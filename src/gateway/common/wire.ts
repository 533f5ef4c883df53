/** The wire format of `POST /embed-token`: its body, its response, and the HTTP status of every error code. */
import { z } from 'zod';
import { identifier } from '../../contract/fields.js';
import type { Status } from '../../contract/operation.js';
import { type Code, Refusal } from '../../domain/refusal.js';
import { findUnavailable, unavailableRetrySeconds } from '../../domain/unavailable.js';
import { BodyTooLarge } from '../../http/body-faults.js';

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
export const maxBodyBytes = 4096;

export type GrantedEmbed = { readonly id: string; readonly name: string; readonly type: 'dashboard' | 'metric' };

/** The response. Times are ISO 8601. A request before `refreshAfter` gets the same token. */
export type EmbedTokenAnswer = {
  readonly token: string;
  readonly expiresAt: string;
  readonly refreshAfter: string;
  readonly embeds: readonly GrantedEmbed[];
  readonly serviceUrl: string;
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

/** `Retry-After` of a 503 in seconds, if the service is unreachable and gave no delay of its own. */
export const usualRetrySeconds = 5;

/** Whether the code is an error code of the gateway. */
export const isGatewayCode = (code: string): code is GatewayCode => Object.hasOwn(gatewayErrors, code);

export type ErrorAnswer = {
  readonly code: GatewayCode;
  readonly status: Status;
  readonly body: string;
};

const isOwnFailure = (error: unknown): boolean =>
  !(error instanceof Refusal) || !isGatewayCode(error.code) || gatewayErrors[error.code] === 500;

/**
 * Converts the error of an unavailable dependency to UPSTREAM_UNAVAILABLE with a delay for the retry. Returns other
 * errors unchanged.
 */
export const namedUnavailable = (error: unknown): unknown => {
  const unavailable = isOwnFailure(error) ? findUnavailable(error) : undefined;
  if (unavailable === undefined) return error;
  return new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The gateway's database is unavailable. Try again shortly; the gateway's log has the reason.",
    { reason: unavailable.reason, cause: error, retryAfterSeconds: unavailableRetrySeconds },
  );
};

/**
 * Returns the response for an error. An error that is not a Refusal of the gateway becomes INTERNAL_SERVER_ERROR
 * without its message.
 */
export const encodeError = (thrown: unknown): ErrorAnswer => {
  const error = namedUnavailable(thrown);
  const known = error instanceof Refusal && isGatewayCode(error.code);
  const code: GatewayCode = known && isGatewayCode(error.code) ? error.code : 'INTERNAL_SERVER_ERROR';
  const message = known ? error.message : 'The gateway failed to answer; the reason is in its log.';
  const status = error instanceof BodyTooLarge ? 413 : gatewayErrors[code];
  return { code, status, body: JSON.stringify({ error: { code, message, status } }) };
};

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
