/** HTTP calls of the demo host page: read the session, log in and out. */
import { isRecord } from '../base/client.js';
import type { Refused } from '../token/keeper.js';

export type DemoUser = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly airport: string;
  readonly roles: readonly string[];
  readonly region: string | null;
  readonly description: string;
};

export type CurrentUser = Omit<DemoUser, 'description'> & { readonly claims: Readonly<Record<string, unknown>> };
export type DemoSession = { readonly users: readonly DemoUser[]; readonly current: CurrentUser | null };
export const readSession = (): Promise<DemoSession> => ask('/demo/session');
export const logIn = (user: string): Promise<DemoSession> => post('/demo/login', { user });
export const logOut = (): Promise<DemoSession> => post('/demo/logout', {});

const post = (path: string, body: unknown): Promise<DemoSession> =>
  ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const ask = async (path: string, init: RequestInit = {}): Promise<DemoSession> => {
  const response = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' });
  if (!response.ok) throw new Error((await errorOf(response)).message);
  const body: unknown = await response.json();
  if (!isRecord(body) || !Array.isArray(body.users)) throw new Error('The demo session can’t be read.');
  return { users: body.users.filter(isUser), current: isCurrent(body.current) ? body.current : null };
};

const errorOf = async (response: Response): Promise<Refused> => {
  const body: unknown = await response.json().catch(() => null);
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  return {
    code: typeof error.code === 'string' ? error.code : `HTTP ${response.status}`,
    message: typeof error.message === 'string' ? error.message : response.statusText,
    status: response.status,
  };
};

/** A title for an embed. A copy's id is `<template>--<clientId>`; the title shows the template's name alone. */
export const embedTitle = (id: string, name: string | undefined): string => {
  const given = name === undefined || name === '' ? id : name;
  const plain = given === id ? given.replace(/--.*$/, '') : given;
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};

const isUser = (value: unknown): value is DemoUser =>
  isRecord(value) && typeof value.id === 'string' && typeof value.name === 'string' && Array.isArray(value.roles);
const isCurrent = (value: unknown): value is CurrentUser => isUser(value) && 'claims' in value;
