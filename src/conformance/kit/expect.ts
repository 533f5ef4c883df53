/** Expectations about an answer. Each throws a Fault with the received and the expected value. */
import { type Answer, isJson, type Json } from './wire.js';

/** The server's answer contradicts the sentence. */
export class Fault extends Error {}
/** The check cannot run on this server; the message says why. */
export class NotTried extends Error {}

/** Returns what is wrong with the value at a path, or undefined. */
export type Shape = (value: unknown, path: string) => string | undefined;

const kind = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'nothing' : `${typeof value} ${JSON.stringify(value)?.slice(0, 60)}`;
};

const is =
  (what: string, holds: (value: unknown) => boolean): Shape =>
  (value, path) =>
    holds(value) ? undefined : `${path} is ${kind(value)}, not ${what}`;

export const text = is('a string', (value) => typeof value === 'string');
export const filled = is('a string that is not empty', (value) => typeof value === 'string' && value !== '');
export const number = is('a number', (value) => typeof value === 'number');
export const boolean = is('a boolean', (value) => typeof value === 'boolean');
export const nothing = is('null', (value) => value === null);
export const anything = is('present', (value) => value !== undefined);
export const exactly = (wanted: unknown): Shape =>
  is(JSON.stringify(wanted), (value) => JSON.stringify(value) === JSON.stringify(wanted));
export const oneOf = (...wanted: readonly unknown[]): Shape =>
  is(`one of ${JSON.stringify(wanted)}`, (value) => wanted.includes(value));
export const timestamp = is(
  'a timestamp',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)) && /\d{4}/.test(value),
);

export const orNull =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? undefined : shape(value, path);

export const orLeftOut =
  (shape: Shape): Shape =>
  (value, path) =>
    value === undefined ? undefined : shape(value, path);

export const listOf =
  (shape: Shape): Shape =>
  (value, path) =>
    Array.isArray(value)
      ? value.map((item, index) => shape(item, `${path}[${index}]`)).find((fault) => fault !== undefined)
      : `${path} is ${kind(value)}, not an array`;

/** An object with these fields, and possibly others. */
export const fields =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value, path) =>
    isJson(value)
      ? Object.entries(members)
          .map(([name, shape]) => shape(Object.hasOwn(value, name) ? value[name] : undefined, `${path}.${name}`))
          .find((fault) => fault !== undefined)
      : `${path} is ${kind(value)}, not an object`;

/** An object without these fields. */
export const without =
  (...names: readonly string[]): Shape =>
  (value, path) => {
    const found = isJson(value) ? names.filter((name) => Object.hasOwn(value, name)) : [];
    return found.length === 0 ? undefined : `${path} has ${found.join(', ')}, which it must not`;
  };

export const both =
  (...shapes: readonly Shape[]): Shape =>
  (value, path) =>
    shapes.map((shape) => shape(value, path)).find((fault) => fault !== undefined);

/** Expects status 200 and this shape; returns the body. */
export const expectOk = (answer: Answer, shape: Shape): Json => {
  if (answer.status !== 200) throw new Fault(`got status ${answer.status}, expected 200`);
  const fault = shape(answer.body, 'body');
  if (fault !== undefined) throw new Fault(fault);
  if (!isJson(answer.body)) throw new Fault('the body is no JSON object');
  return answer.body;
};

const envelope = fields({ error: fields({ code: filled, message: filled, status: orLeftOut(number) }) });

/** For refusals whose status the specification does not say. */
export const anyRefusal: readonly number[] = [400, 401, 403, 404, 409, 422];

const writeList = (wanted: readonly (string | number)[]): string => wanted.join(' or ');

/** Expects an error envelope with one of these statuses and one of these codes. */
export const expectRefusal = (
  answer: Answer,
  statuses: number | readonly number[],
  codes: string | readonly string[],
): void => {
  const wantedStatuses = [statuses].flat();
  const wantedCodes = [codes].flat();
  const fault = envelope(answer.body, 'body');
  const error = isJson(answer.body) && isJson(answer.body.error) ? answer.body.error : {};
  const isStatus = wantedStatuses.includes(answer.status);
  const isCode = typeof error.code === 'string' && wantedCodes.includes(error.code);
  if (!isStatus || !isCode) {
    const open = wantedStatuses === anyRefusal ? 'an error' : writeList(wantedStatuses);
    throw new Fault(`got ${answer.status} ${String(error.code ?? '')}, expected ${open} ${writeList(wantedCodes)}`);
  }
  if (fault !== undefined) throw new Fault(fault);
  if (error.status !== undefined && error.status !== answer.status) {
    throw new Fault(`error.status is ${error.status}, but the status is ${answer.status}`);
  }
};

/** The `data` array of a listing. */
export const rowsOf = (body: Json): readonly Json[] => (Array.isArray(body.data) ? body.data.filter(isJson) : []);

export const expectThat = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Fault(otherwise);
};
