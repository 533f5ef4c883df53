/**
 * Stores the unexpired tokens that this process has returned, each with its session, request body and grant. In memory
 * only.
 */
import { createLru } from '../../platform/work/lru.js';
import type { Session } from '../authenticate/signed-session.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import type { EmbedTokenBody } from '../common/wire.js';
import type { Grant } from '../policy/decide.js';

export type IssuedToken = {
  readonly clientId: string;
  /** The session of the latest request that got this token. */
  readonly session: Session;
  readonly asked: EmbedTokenBody;
  readonly grant: Grant;
  readonly expiresAtMs: number;
};

export type IssuedTokens = {
  readonly remember: (token: string, live: IssuedToken) => void;
  readonly forget: (token: string) => void;
  readonly forgetClient: ForgetClient;
  readonly list: (nowMs: number) => readonly (readonly [string, IssuedToken])[];
  /** The latest expiry of the tokens that were dropped because the maximum was reached. */
  readonly lostUntilMs: () => number;
  readonly clear: () => void;
};

export const createIssuedTokens = (max: number, nowMs: () => number): IssuedTokens => {
  let lostUntilMs = 0;
  const held = createLru<string, IssuedToken>(max, {
    isOver: ({ expiresAtMs }) => nowMs() >= expiresAtMs,
    evicted: ({ expiresAtMs }) => {
      lostUntilMs = Math.max(lostUntilMs, expiresAtMs);
    },
  });
  return {
    remember: (token, live) => {
      const known = held.get(token);
      // The same session and grant imply the same request body, so the entry is up to date.
      if (known?.session === live.session && known.grant === live.grant) return;
      held.set(token, live);
    },
    forget: (token) => held.delete(token),
    forgetClient: (clientId) => dropWhere(held, (_, live) => live.clientId === clientId),
    list: (atMs) => [...held].filter(([, { expiresAtMs }]) => expiresAtMs > atMs),
    lostUntilMs: () => lostUntilMs,
    clear: () => {
      held.clear();
      lostUntilMs = 0;
    },
  };
};
