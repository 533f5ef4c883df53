import { createClient, type WireRequest } from '../../../src/platform/http/interface/client.js';
import type { Credential, Operation } from '../../../src/platform/http/interface/operation.js';
import { apiKey, guestToken, serviceToken } from './sample.js';

const bearers: Readonly<Record<Credential, string>> = { apiKey, serviceToken, guestToken };

export const bearerOf = ({ credentials }: Operation): string => bearers[credentials[0] ?? 'apiKey'];

/** Returns the request that the typed client sends for an operation's example. */
export const exampleRequest = async (operation: Operation): Promise<WireRequest> => {
  const sent: WireRequest[] = [];
  const transport = async (request: WireRequest) => {
    sent.push(request);
    return { status: 500, body: {} };
  };
  await createClient(transport, bearerOf(operation))(operation, operation.example?.input).catch(() => undefined);
  const [request] = sent;
  if (request === undefined) throw new Error(`no request was made for ${operation.name}`);
  return request;
};
