/** Sends calls of the interface to a server over HTTP. Rejects as `fetch` does where nothing answers. */
import type { Transport } from '../../platform/http/interface/client.js';

export const createHttpTransport =
  (base: string): Transport =>
  async ({ method, path, query, body, bearer }) => {
    const search = new URLSearchParams(query).toString();
    const response = await fetch(`${base}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
    });
    // What is not JSON has no error envelope either, and the client says so.
    return { status: response.status, body: await response.json().catch(() => undefined) };
  };
