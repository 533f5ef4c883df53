/** The setting `ask` of an issuer: its sessions are opaque, and the host application says who is logged in. */
import { z } from 'zod';
import { weaknessOfBytes } from '../keys/secret-strength.js';
import { hookSecretMend, isHookSecret } from './hook-secrets.js';
import { urlFault, variable } from './outgoing-settings.js';

/** Names of cookies and headers are tokens of HTTP. Neither has a colon. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
const headerPrefix = 'header:';

/** Headers that say how or for whom a request is sent, and no session. `cookie` would send all cookies. */
const notForwarded = ['cookie', 'host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect'];

const forwarded = z.string().refine(
  (text) => {
    if (!text.startsWith(headerPrefix)) return token.test(text);
    const name = text.slice(headerPrefix.length).toLowerCase();
    return token.test(name) && !notForwarded.includes(name) && !name.startsWith('webhook-');
  },
  { error: 'must be the name of a cookie, such as _app_session, or of a header, such as header:x-app-session' },
);

const seconds = (max: number, usual: number) => z.number().int().min(0).max(max).default(usual);

export const askSetting = z
  .strictObject({
    url: z.string().min(1).max(2000),
    forward: z.array(forwarded).min(1).max(10),
    secretVariable: variable,
    cacheSeconds: seconds(300, 10),
    staleSeconds: seconds(3_600, 0),
    timeoutMs: z.number().int().min(50).max(30_000).default(2_000),
    allowHttp: z.boolean().default(false),
  })
  .describe(
    'in place of keys: url of the host\'s endpoint, asked with GET for each opaque session; forward: the cookies, or headers as "header:x-session", that are sent to it; secretVariable: environment variable of the secret that signs the question (whsec_...); cacheSeconds (10); staleSeconds (0): how much longer an answer is used while the host fails; timeoutMs (2000); allowHttp: true for plain http in your own network',
  );
type AskSetting = z.output<typeof askSetting>;

/** An endpoint of the host that says who is logged in. */
export type ConfiguredAsk = {
  readonly url: string;
  readonly cookies: readonly string[];
  /** In lower case. */
  readonly headers: readonly string[];
  readonly secret: string;
  readonly secretVariable: string;
  readonly cacheSeconds: number;
  readonly staleSeconds: number;
  readonly timeoutMs: number;
};

type Sources = { readonly env: Readonly<Record<string, string | undefined>>; readonly strongSecrets?: boolean };

const secretFault = (name: string, { env, strongSecrets = false }: Sources): string | null => {
  const secret = env[name] ?? '';
  if (secret === '') return `names the variable ${name}, which is not set: ${hookSecretMend}`;
  if (!isHookSecret(secret)) return `names ${name}, which is no secret of Standard Webhooks: ${hookSecretMend}`;
  const weakness = strongSecrets ? weaknessOfBytes(secret) : undefined;
  return weakness === undefined ? null : `names ${name}, which ${weakness}: ${hookSecretMend}`;
};

/** Reads the setting with its secret. No fault contains the secret. */
export const readAsk = (
  setting: AskSetting,
  sources: Sources,
): { readonly ask: ConfiguredAsk; readonly faults: readonly { readonly field: string; readonly mend: string }[] } => {
  const { url, forward, secretVariable, allowHttp, ...rest } = setting;
  const isHeader = (name: string) => name.startsWith(headerPrefix);
  const faults = [
    ['ask.url', urlFault(url, false, allowHttp)] as const,
    ['ask.secretVariable', secretFault(secretVariable, sources)] as const,
  ].flatMap(([field, mend]) => (mend === null ? [] : [{ field, mend }]));
  const ask = {
    ...rest,
    ...{ url, secretVariable },
    cookies: forward.filter((name) => !isHeader(name)),
    headers: forward.filter(isHeader).map((name) => name.slice(headerPrefix.length).toLowerCase()),
    secret: sources.env[secretVariable] ?? '',
  };
  return { ask, faults };
};
