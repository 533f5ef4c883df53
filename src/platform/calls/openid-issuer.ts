/** Finds the endpoints of an OpenID issuer by its published document (OpenID Connect Discovery 1.0). */
import type { Configuration, CustomFetchOptions } from 'openid-client';
import { isLoopback } from '../addresses/addresses.js';
import { type AskOptions, askFrom, Barred } from './outgoing.js';

export type IssuerOptions = {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  /** Whether endpoints of the issuer at other hosts may be of the operator's own network. */
  readonly allowsPrivate: boolean;
  /** What to change if an endpoint of the own network is meant. */
  readonly mend: string;
  readonly timeoutSeconds: number;
  /** Resolves names, for tests. Left out: the system does. */
  readonly lookup?: AskOptions['lookup'];
};

const mostBytes = 1024 * 1024;

/**
 * Asks the issuer. The configuration names its host alone: the endpoints that its document names elsewhere must be of the
 * public internet, or the issuer could make this process call servers of the operator's own network.
 */
const issuerFetch =
  ({ issuer, allowsPrivate, mend, timeoutSeconds, lookup }: IssuerOptions) =>
  async (url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> => {
    const { hostname } = new URL(url);
    const to = { url, allowsPrivate: allowsPrivate || hostname === new URL(issuer).hostname };
    const asking = {
      ...{ method, headers, body: body ?? null },
      signal: signal ?? AbortSignal.timeout(timeoutSeconds * 1000),
    };
    try {
      return await askFrom(to, asking, { maxBytes: mostBytes, lookup });
    } catch (cause) {
      if (!(cause instanceof Barred)) throw cause;
      throw new Barred(`the issuer names ${hostname}, which has an address that is not public: ${mend}`, { cause });
    }
  };

/**
 * Reads the issuer's document. Rejects if the document names another issuer. Plain HTTP is for an issuer on this machine
 * only. All later questions with the result are asked as this one.
 */
export const discoverIssuer = async (options: IssuerOptions): Promise<Configuration> => {
  const client = await import('openid-client');
  const issuer = new URL(options.issuer);
  const { clientSecret } = options;
  const authentication = clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
  return client.discovery(issuer, options.clientId, undefined, authentication, {
    ...{ execute: isLoopback(issuer.hostname) ? [client.allowInsecureRequests] : [], timeout: options.timeoutSeconds },
    [client.customFetch]: issuerFetch(options),
  });
};
