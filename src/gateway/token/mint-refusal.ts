/** Converts a refused mint to the gateway's error. A mint is never retried with fewer restrictions. */
import { Refusal } from '../../model/refusal.js';
import { UpstreamRefusal } from '../../platform/http/interface/client.js';
import type { GuestTokenRequest } from '../../service/guest-tokens/contract/guest-tokens.js';
import { Unavailable, unavailable } from '../upstream/unavailable.js';

/**
 * The service refused a guest-token request, or failed to handle it. Omits the service's own message, which could
 * repeat a value of the request: those values restrict a user.
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

/** Codes of a 400 that are caused by the setup of gateway and service, not by the policy. */
const setupCodes: ReadonlySet<string> = new Set([
  'WORKSPACE_ID_ERROR',
  'DATASOURCE_NAME_ERROR',
  'INVALID_DATAMART_NAME',
]);

/** Codes that refuse the source which the policy names, if it names one. */
const sourceCodes: ReadonlySet<string> = new Set(['DATASOURCE_NAME_ERROR', 'INVALID_DATAMART_NAME']);

const isOfSource = ({ code }: UpstreamRefusal, { datasourceName, datamartName }: GuestTokenRequest): boolean =>
  sourceCodes.has(code) && (datasourceName !== undefined || datamartName !== undefined);

/** Returns the error to throw for an error of a mint. */
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
  if (!isContent(error) || (setupCodes.has(error.code) && !isOfSource(error, request)))
    return unavailable('mint-refused', cause);
  return new Refusal(
    'POLICY_UNDECIDED',
    "The analytics service refuses what the policy asks for this user, so nothing is shown. The gateway's log names the field; retrying does not help.",
    { reason: 'mint-field-refused', cause },
  );
};

/**
 * The fields of a request that an upstream refused. Contains only names: the values restrict a user and must not be
 * logged.
 */
export type RefusedFields = {
  /** Paths of the fields that the response names. `namedBy` is the part of the response that names them. */
  readonly refusedFields?: readonly string[];
  readonly namedBy?: 'path' | 'message' | 'code';
  /** All fields that were sent, if the response names none. */
  readonly sentFields?: readonly string[];
};

/** The fields that each code of the interface concerns. A code can concern one of several fields. */
const fieldsByCode: Readonly<Partial<Record<string, readonly string[]>>> = {
  CLIENT_ID_ERROR: ['clientId'],
  APP_FILTER_PARAM_ERROR: ['appFilters', 'dashboardAppFilters'],
  RLS_SETTINGS_PARAM_ERROR: ['rlsSettings'],
  DASHBOARD_PARAM_ERROR: ['allowedEmbeds', 'hideDashboardMetrics'],
  DATASOURCE_NAME_ERROR: ['datasourceName', 'datamartName'],
};

/** Members of a response that contain the name of the refused field. */
const pathMembers: ReadonlySet<string> = new Set([
  'path',
  'field',
  'fields',
  'param',
  'property',
  'pointer',
  'loc',
  'location',
  'instancePath',
  'target',
]);

type Texts = { readonly path: string[]; readonly message: string[] };

const maxDepth = 6;
const maxTexts = 200;
const maxLength = 2_000;

/** Collects all texts and member names of a response of any shape, since services name the refused field in either. */
const collect = (value: unknown, isPath: boolean, texts: Texts, depth = 0): Texts => {
  if (depth > maxDepth || texts.path.length + texts.message.length > maxTexts) return texts;
  if (typeof value === 'string') (isPath ? texts.path : texts.message).push(value.slice(0, maxLength));
  else if (Array.isArray(value)) for (const item of value) collect(item, isPath, texts, depth + 1);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      texts.message.push(name.slice(0, maxLength));
      collect(item, isPath || pathMembers.has(name), texts, depth + 1);
    }
  }
  return texts;
};

/**
 * Returns a pattern for a field's name in the spellings of services: for `appFilters`, also `app_filters`, `App Filter`
 * and `app-filters`, but not a part of `dashboardAppFilters`.
 */
const patternOf = (path: string): RegExp => {
  const words = (path.split('.').at(-1) ?? '').split(/(?=[A-Z])/).map((word) => word.toLowerCase().replace(/s$/, ''));
  return new RegExp(`(?<![a-z0-9])${words.map((word) => `${word}s?`).join('[ _-]*')}(?![a-z0-9])`, 'gi');
};

/** Returns the `paths` that the texts name. Searches the longest first, since one name may be the end of another. */
const namedIn = (texts: readonly string[], paths: readonly string[]): readonly string[] => {
  let text = texts.join('\n');
  const named = new Set<string>();
  for (const path of paths.toSorted((a, b) => b.length - a.length)) {
    const rest = text.replace(patternOf(path), '|');
    if (rest !== text) named.add(path);
    text = rest;
  }
  return paths.filter((path) => named.has(path));
};

/** Returns the path of every field that was sent, without the contents of lists and values. */
const sentFieldsOf = (request: GuestTokenRequest): readonly string[] =>
  Object.entries(request).flatMap(([name, value]) =>
    (name === 'params' || name === 'permissions') && typeof value === 'object'
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );

/**
 * Returns the sent fields that the response refuses. A path in the response takes precedence over its message, and the
 * message over its code, which may concern several fields.
 */
const refusedFieldsOf = (request: GuestTokenRequest, code: string, body: unknown): RefusedFields => {
  const sentFields = sentFieldsOf(request);
  const coded = fieldsByCode[code];
  const texts = collect(body, false, { path: [], message: [] });
  // A code of the interface can concern several fields although it contains the name of one, so it is not searched.
  const words = coded === undefined ? texts.message : texts.message.filter((text) => text !== code);
  const byPath = namedIn(texts.path, sentFields);
  if (byPath.length > 0) return { refusedFields: byPath, namedBy: 'path' };
  const byMessage = namedIn(words, sentFields);
  if (byMessage.length > 0) return { refusedFields: byMessage, namedBy: 'message' };
  const byCode = sentFields.filter((path) => (coded ?? []).some((name) => path === name || path.endsWith(`.${name}`)));
  return byCode.length > 0 ? { refusedFields: byCode, namedBy: 'code' } : { sentFields };
};
