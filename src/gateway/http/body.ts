/** The body of `/embed-token`: read as every body is, and decoded. */
import type { IncomingMessage } from 'node:http';
import { hasBody, readJson } from '../../platform/http/wire/body-reader.js';
import { decodeBody, type EmbedTokenRequestBody, maxBodyBytes } from '../common/wire.js';

/** Returns {} for a request without a body. Throws INVALID_REQUEST_BODY. */
export const readBody = (request: IncomingMessage): EmbedTokenRequestBody | Promise<EmbedTokenRequestBody> =>
  hasBody(request) ? readJson(request, maxBodyBytes).then(decodeBody) : {};
