/**
 * The command `embed-facts`: where browsers find the gateway and the service, which pages may ask for tokens, and whose
 * sessions are accepted. No keys, no secrets.
 */
import { z } from 'zod';
import type { JwtIssuer } from '../../platform/keys/jwt.js';
import { type AdminCommand, adminCommand, declareCommand, noInput, readBy, readers } from '../common/admin-command.js';
import type { AskedIssuer } from './asked-session.js';
import type { Origins } from './credential.js';

type Sessions = {
  readonly issuers?: readonly JwtIssuer[] | undefined;
  readonly askedIssuers?: readonly AskedIssuer[] | undefined;
  readonly cookieName?: string | null | undefined;
  readonly serviceUrl: string | null;
};

const facts = z.object({
  /** The origins of the host's pages, besides the gateway's own. */
  allowedOrigins: z.array(z.string()),
  /** The gateway's own origin as browsers see it. Null: that of the request. */
  publicOrigin: z.string().nullable(),
  /** Where browsers reach the service, if it is another process. Null: the answer of the gateway says it. */
  serviceUrl: z.string().nullable(),
  /** Null: the host application says who the user is. An issuer is null where its name is not checked. */
  issuers: z.array(z.string().nullable()).nullable(),
  cookieName: z.string().nullable(),
});

export const readEmbedFacts = declareCommand('embed-facts', noInput, facts, readBy(...readers));

export const embedFacts = ({
  allowedOrigins,
  publicOrigin = null,
  serviceUrl,
  issuers,
  askedIssuers = [],
  cookieName = null,
}: Origins & Sessions): AdminCommand =>
  adminCommand(readEmbedFacts, async () => ({
    ...{ allowedOrigins, publicOrigin, serviceUrl },
    issuers: issuers === undefined ? null : [...issuers, ...askedIssuers].map(({ issuer }) => issuer),
    cookieName,
  }));
