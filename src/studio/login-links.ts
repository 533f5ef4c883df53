/** Login links with a code that works once: how the operator of an installation gets into Studio. */
import { z } from 'zod';
import {
  type AdminCommand,
  adminCommand,
  declareCommand,
  noInput,
  operatorsAlone,
} from '../gateway/common/admin-command.js';
import type { HashedToken } from '../model/brand.js';
import type { Person } from '../model/person.js';
import type { Clock, Tokens } from '../model/ports.js';

export type LoginLinks = {
  /** Returns a new code. */
  readonly create: () => string;
  /** Whether the code is a good one. It is not a second time. */
  readonly redeem: (code: string) => boolean;
};

const lifeMs = 12 * 3_600_000;
const maxCodes = 100;

/** Who logs in with a link: an operator, who reads the output of the server or has the gateway token. */
export const linkedPerson: Person = {
  issuer: 'link',
  subject: 'operator',
  name: 'Operator',
  roles: ['owner'],
  seesData: true,
};

/** The codes live in this process: a link works at the process that made it, until it ends. */
export const createLoginLinks = ({ clock, tokens }: { readonly clock: Clock; readonly tokens: Tokens }): LoginLinks => {
  const codes = new Map<HashedToken, number>();
  return {
    create: () => {
      const code = tokens.create();
      const [oldest] = codes.keys();
      if (codes.size >= maxCodes && oldest !== undefined) codes.delete(oldest);
      codes.set(tokens.hash(code), clock.now().getTime() + lifeMs);
      return code;
    },
    redeem: (code) => {
      const hash = tokens.hash(code);
      const untilMs = codes.get(hash);
      codes.delete(hash);
      return untilMs !== undefined && untilMs > clock.now().getTime();
    },
  };
};

/** The page that takes the code from the address. The part after `#` is never sent to a server nor logged by a proxy. */
export const linkOf = (origin: string, code: string): string => `${origin}/studio#code=${code}`;

export const createLink = declareCommand('studio-link', noInput, z.object({ url: z.string() }), operatorsAlone);

/** `studio-link`: answers a new link. */
export const studioLinkCommand = (links: LoginLinks, origin: string): AdminCommand =>
  adminCommand(createLink, async () => ({ url: linkOf(origin, links.create()) }));
