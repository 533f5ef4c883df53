/**
 * The command `embed-facts`: where browsers find the gateway and the service, which pages may ask for tokens, and whose
 * sessions are accepted. No keys, no secrets.
 */
import type { JwtIssuer } from '../../platform/jwt.js';
import { type AdminCommand, adminCommand, declareCommand, noInput, readBy, readers } from '../common/admin-command.js';
import type { Origins } from './credential.js';

type Sessions = {
  readonly issuers?: readonly JwtIssuer[] | undefined;
  readonly cookieName?: string | null | undefined;
  readonly serviceUrl: string | null;
};

export const readEmbedFacts = declareCommand('embed-facts', noInput, readBy(...readers));

/** `issuers` is null where the host application says who the user is; an issuer is null where its name is not checked. */
export const embedFacts = ({
  allowedOrigins,
  publicOrigin = null,
  serviceUrl,
  issuers,
  cookieName = null,
}: Origins & Sessions): AdminCommand =>
  adminCommand(readEmbedFacts, async () => ({
    ...{ allowedOrigins, publicOrigin, serviceUrl },
    issuers: issuers === undefined ? null : issuers.map(({ issuer }) => issuer),
    cookieName,
  }));
