/** The command line as an operator of a running gateway: every command goes through its `/gateway/admin`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readOperatorSettings } from '../main.js';
import { WrongCall } from './wrong-call.js';

/** What the gateway refused, or that it could not be asked. The message is for the terminal. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** The gateway's words for a command that it could not read: it was called wrongly. */
const wrongCallCode = 'INVALID_REQUEST_BODY';

const answer = z.union([
  z.object({ data: z.unknown(), error: z.null() }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);

const storedToken = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, 'credentials.json');
  try {
    return z.object({ gatewayToken: z.string() }).parse(JSON.parse(await readFile(file, 'utf8'))).gatewayToken;
  } catch {
    throw new OperatorError(
      `There is no gateway token: set GUESTLIST_GATEWAY_TOKEN, or GUESTLIST_DATA_DIR to the gateway's folder (${file} has none).`,
    );
  }
};

/** Runs one command of the gateway at `url`; left out: where the configuration says that it listens. Throws OperatorError, and WrongCall
 * for input that it refuses. */
export const callGateway = async (command: string, input: unknown, url?: string): Promise<unknown> => {
  const settings = readOperatorSettings();
  const base = (url ?? settings.url).replace(/\/+$/, '');
  const token = settings.gatewayToken ?? (await storedToken(settings.dataDir));
  let response: Response;
  try {
    response = await fetch(`${base}/gateway/admin/${command}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
      redirect: 'error',
    });
  } catch (cause) {
    throw new OperatorError(`No gateway answers at ${base}. Start it, or name another by --url.`, { cause });
  }
  const parsed = answer.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new OperatorError(`What answers at ${base} (status ${response.status}) is no gateway.`);
  if (parsed.data.error === null) return parsed.data.data;
  const { code, message } = parsed.data.error;
  throw code === wrongCallCode ? new WrongCall(message) : new OperatorError(`${code}: ${message}`);
};
