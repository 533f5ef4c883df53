/** The command line as an operator of a running product: commands go through the gateway's `/gateway/admin`, or the service's `/api/v2`. */

import { readFile } from 'node:fs/promises';
import { networkInterfaces, userInfo } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { operatorHeader } from '../gateway/http/admin.js';
import { readOperatorSettings } from '../main.js';
import type { AnswerOf, Callable } from '../platform/http/interface/callable.js';
import { WrongCall } from './kit/exit.js';

/** What the server refused, or that it could not be asked. The message is for the terminal. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** The server's words for a command that it could not read, or that names what is not there: it was called wrongly. */
const wrongCallCodes: ReadonlySet<string> = new Set(['INVALID_REQUEST_BODY', 'INVALID_DATAMART']);

const answer = z.union([
  z.object({ data: z.unknown(), error: z.null() }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);

/** The two halves of the product, and the credential of each. */
const halves = {
  gateway: { credential: 'gatewayToken', words: 'gateway token', variable: 'GUESTLIST_GATEWAY_TOKEN' },
  service: { credential: 'serviceToken', words: 'service token', variable: 'GUESTLIST_SERVICE_TOKEN' },
} as const;
type Half = keyof typeof halves;

/** The token that the first start of a half created in its data folder. Throws OperatorError. */
export const storedToken = async (dataDir: string, half: Half): Promise<string> => {
  const file = join(dataDir, 'credentials.json');
  const { credential, words, variable } = halves[half];
  try {
    const kept = z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(file, 'utf8')));
    return z.string().parse(kept[credential]);
  } catch (cause) {
    throw new OperatorError(
      `There is no ${words}: set ${variable}, or GUESTLIST_DATA_DIR to the ${half}'s folder (${file} has none).`,
      { cause },
    );
  }
};

/** Whether the host is this machine, under any of its addresses. */
export const isThisMachine = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, '');
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  return ['localhost', '0.0.0.0', '::', '::1', ...own].includes(bare) || /^127\.\d+\.\d+\.\d+$/.test(bare);
};

/**
 * The address of a half: `url`, or where the configuration says that it listens. A configuration that was only found in
 * the folder must not send the operator's token to another machine. Throws OperatorError.
 */
export const addressOf = (half: Half, url: string | undefined): string => {
  if (url !== undefined) return url.replace(/\/+$/, '');
  const settings = readOperatorSettings();
  const base = half === 'gateway' ? settings.gatewayUrl : settings.url;
  if (!settings.isConfigFound || isThisMachine(new URL(base).hostname)) return base;
  throw new OperatorError(
    `guestlist.yaml of this folder names the server ${base}, which is not this machine. To send your token there, add --url ${base}.`,
  );
};

type Sent = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: unknown };

/** Whom the log names beside the token; a machine without a name for its user names nobody. */
const namedOperator = (): Readonly<Record<string, string>> => {
  try {
    return {
      [operatorHeader]: userInfo()
        .username.replace(/[^\w.@+-]/g, '_')
        .slice(0, 64),
    };
  } catch {
    return {};
  }
};

/** Throws OperatorError, and WrongCall for input that the server refuses. */
const callServer = async (half: Half, { method, path, body }: Sent, url: string | undefined): Promise<unknown> => {
  const settings = readOperatorSettings();
  const base = addressOf(half, url);
  const token = settings[halves[half].credential] ?? (await storedToken(settings.dataDir, half));
  let response: Response;
  try {
    response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...namedOperator(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
    });
  } catch (cause) {
    throw new OperatorError(`No ${half} answers at ${base}. Start it, or name another by --url.`, { cause });
  }
  const parsed = answer.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new OperatorError(`What answers at ${base} (status ${response.status}) is no ${half}.`);
  if (parsed.data.error === null) return parsed.data.data;
  const { code, message } = parsed.data.error;
  throw wrongCallCodes.has(code) ? new WrongCall(message) : new OperatorError(`${code}: ${message}`);
};

/** Runs one command of the gateway at `url`; left out: where the configuration says that it listens. The gateway checks the input.
 * Throws OperatorError, and WrongCall for input that it refuses. */
export const callGateway = async <Command extends Callable>(
  { name, output }: Command,
  input: object,
  url?: string,
): Promise<AnswerOf<Command>> => {
  const asked = { method: 'POST', path: `/gateway/admin/${name}`, body: input } as const;
  return output.parse(await callServer('gateway', asked, url)) as AnswerOf<Command>;
};

/** Reads one operation of the service at `url`; left out: where the configuration says that it listens. Throws as `callGateway` does. */
export const readService = (path: string, query: Readonly<Record<string, string>>, url?: string): Promise<unknown> =>
  callServer('service', { method: 'GET', path: `/api/v2${path}?${new URLSearchParams(query)}` }, url);
