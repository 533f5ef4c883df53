/** What becomes of a mint that the service refuses. It is never tried again with less in it. */
import { UpstreamRefusal } from '../../contract/client.js';
import type { GuestTokenRequest } from '../../contract/guest-tokens.js';
import { Refusal } from '../../domain/refusal.js';
import { Unavailable, unavailable } from '../upstream/unavailable.js';
import { type RefusedFields, refusedFieldsOf } from './refused-fields.js';

/**
 * The service refused a guest-token request, or failed at it. Its own words are left out: a service may repeat a value there, and the values of a
 * request are what restricts a user.
 */
export class MintRefusal extends UpstreamRefusal {
  constructor(
    { status, code, answer }: UpstreamRefusal,
    readonly fields: RefusedFields,
  ) {
    super(status, /^[\w.-]{1,64}$/.test(code) ? code : 'UNKNOWN', 'the service made no guest token', answer);
  }
}

const isContent = ({ status }: UpstreamRefusal): boolean => status === 400 || status === 422;

/** Codes of a 400 that are about how gateway and service are set up, and not about what the policy asks for. */
const setupCodes: ReadonlySet<string> = new Set([
  'WORKSPACE_ID_ERROR',
  'DATASOURCE_NAME_ERROR',
  'INVALID_DATAMART_NAME',
]);

/** The error to throw for what a mint threw. */
export const mintErrorOf = (error: unknown, request: GuestTokenRequest): unknown => {
  if (error instanceof Unavailable && error.cause instanceof UpstreamRefusal) {
    return unavailable(error.reason, new MintRefusal(error.cause, {}), error.retryAfterMs);
  }
  if (!(error instanceof UpstreamRefusal)) return error;
  const cause = new MintRefusal(error, refusedFieldsOf(request, error.code, error.answer.body));
  if (error.code === 'CLIENT_ID_ERROR') {
    return new Refusal('NO_TENANT', "The session's organisation is not one that the analytics service accepts.", {
      reason: 'tenant-unknown-upstream',
      cause,
    });
  }
  if (!isContent(error) || setupCodes.has(error.code)) return unavailable('mint-refused', cause);
  return new Refusal(
    'POLICY_UNDECIDED',
    "The analytics service does not take what the policy asks for this user, so nothing is shown. The gateway's log names the field; asking again does not help.",
    { reason: 'mint-field-refused', cause },
  );
};
