/**
 * The declared claims of a session in CEL's types. A value that does not fit its declaration at some place counts as a
 * claim of the wrong type as a whole: what reads the claim denies. An optional member that is absent is absent.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { isUnsafeNumber } from '../../model/filter/exact-number.js';
import { isRecord } from '../../model/is-record.js';
import type { JwtClaims } from '../../platform/keys/jwt.js';
import { type ClaimType, parseClaimType, writeClaimType } from './claim-type.js';
import { listOf, mapOf, maxClaimList, maxClaimText, objectOf, type Shape } from './expression-cost.js';

/** The declared types by the claims' names, as texts. */
export type ClaimSchema = Readonly<Record<string, string>>;

/** The value of a claim in CEL's types. An object and a map are a `Map`. Null: another type than the declared one. */
export type CelValue = string | bigint | number | boolean | null | readonly CelValue[] | ReadonlyMap<string, CelValue>;
export type CelClaims = Readonly<Record<string, CelValue>>;

/**
 * Replaces a claim of another type than the declared one, so that reading it is a type error. A missing claim is
 * different: `has()` returns false for it.
 */
const mismatch = null;

/** A type of CEL for a declared one. CEL knows an object by its class. */
type ObjectType = {
  readonly name: string;
  readonly text: string;
  readonly make: new () => Map<string, CelValue>;
  readonly fields: Readonly<Record<string, string>>;
};

/** `isPartial`: a required member may be absent, as in the claims of an event. Reading it fails then. */
type Convert = (value: unknown, isPartial: boolean) => CelValue;
type Planned = { readonly celType: string; readonly shape: Shape; readonly convert: Convert };

const text: Planned = {
  celType: 'string',
  shape: null,
  convert: (value) => (typeof value === 'string' && value.length <= maxClaimText ? value : mismatch),
};
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= maxClaimList && value.every((item) => typeof item === 'string');
const texts: Convert = (value) => (isTexts(value) ? value : mismatch);
const plain = {
  string: text,
  bool: { celType: 'bool', shape: null, convert: (value) => (typeof value === 'boolean' ? value : mismatch) },
  double: { celType: 'double', shape: null, convert: (value) => (typeof value === 'number' ? value : mismatch) },
  int: {
    celType: 'int',
    shape: null,
    convert: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : mismatch),
  },
  texts: {
    celType: 'list<string>',
    shape: listOf(null),
    convert: (value, isPartial) => {
      const one = text.convert(value, isPartial);
      return one === mismatch ? texts(value, isPartial) : [one];
    },
  },
} satisfies Record<string, Planned>;

const planList = ({ celType, shape, convert }: Planned): Planned => ({
  celType: `list<${celType}>`,
  shape: listOf(shape),
  convert:
    celType === 'string'
      ? texts
      : (value, isPartial) => {
          if (!Array.isArray(value) || value.length > maxClaimList) return mismatch;
          const items = value.map((item) => convert(item, isPartial));
          return items.includes(mismatch) ? mismatch : items;
        },
});

const planMap = ({ celType, shape, convert }: Planned): Planned => ({
  celType: `map<string, ${celType}>`,
  shape: mapOf(shape),
  convert: (value, isPartial) => {
    if (!isRecord(value)) return mismatch;
    const entries = Object.entries(value);
    if (entries.length > maxClaimList) return mismatch;
    const result = new Map<string, CelValue>();
    for (const [name, item] of entries) {
      const read = convert(item, isPartial);
      if (read === mismatch || name.length > maxClaimText) return mismatch;
      result.set(name, read);
    }
    return result;
  },
});

type Members = ReadonlyMap<string, { readonly isOptional: boolean; readonly planned: Planned }>;

const convertObject = (make: ObjectType['make'], members: Members): Convert => {
  const all = [...members];
  return (value, isPartial) => {
    if (!isRecord(value)) return mismatch;
    const result = new make();
    for (const [name, { isOptional, planned }] of all) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (given === undefined && (isOptional || isPartial)) continue;
      const read = planned.convert(given, isPartial);
      if (read === mismatch) return mismatch;
      result.set(name, read);
    }
    return result;
  };
};

/** How the claims of one schema are converted, declared to CEL and costed. */
export type ClaimPlan = {
  readonly types: ReadonlyMap<string, ClaimType>;
  /** The type of each claim in CEL's words, for `registerVariable`. */
  readonly fields: Readonly<Record<string, string>>;
  readonly shape: Shape;
  readonly convert: ReadonlyMap<string, Convert>;
  /** Declares the types of the claims' objects, which `fields` names. */
  readonly register: (environment: Environment) => Environment;
  /** Names the declared types in a message of CEL. */
  readonly explain: (message: string) => string;
};

/**
 * Plans a type. Objects are added to `objects`, inner ones first, since CEL resolves names in that order. Their names in
 * CEL are numbers: CEL keeps each name that it ever saw.
 */
const planType = (type: ClaimType, objects: ObjectType[]): Planned => {
  if (type.kind === 'list') return planList(planType(type.of, objects));
  if (type.kind === 'map') return planMap(planType(type.of, objects));
  if (type.kind !== 'object') return plain[type.kind];
  const members: Members = new Map(
    [...type.members].map(([name, member]) => [
      name,
      { isOptional: member.isOptional, planned: planType(member.type, objects) },
    ]),
  );
  const name = `$object${objects.length + 1}`;
  const make = class extends Map<string, CelValue> {};
  const fields: Record<string, string> = Object.create(null);
  for (const [member, { planned }] of members) fields[member] = planned.celType;
  objects.push({ name, text: writeClaimType(type), make, fields });
  const shape = objectOf(new Map([...members].map(([member, { planned }]) => [member, planned.shape])));
  return { celType: name, shape, convert: convertObject(make, members) };
};

const createPlan = (schema: ClaimSchema): ClaimPlan => {
  const objects: ObjectType[] = [];
  const types = new Map(Object.entries(schema).map(([name, declared]) => [name, parseClaimType(declared)]));
  const planned = [...types].map(([name, type]) => [name, planType(type, objects)] as const);
  return {
    types,
    fields: Object.fromEntries(planned.map(([name, { celType }]) => [name, celType])),
    shape: objectOf(new Map(planned.map(([name, { shape }]) => [name, shape]))),
    convert: new Map(planned.map(([name, { convert }]) => [name, convert])),
    register: (environment) => {
      for (const { name, make, fields } of objects) environment.registerType(name, { ctor: make, fields });
      return environment;
    },
    explain: (message) =>
      message.replaceAll(/\$object(\d+)/g, (name, number) => objects[Number(number) - 1]?.text ?? name),
  };
};

const plans = new WeakMap<ClaimSchema, ClaimPlan>();

/** Returns the plan of a schema: one for each schema object, since the classes of its objects must be the same. */
export const claimPlan = (schema: ClaimSchema): ClaimPlan => {
  const known = plans.get(schema) ?? createPlan(schema);
  plans.set(schema, known);
  return known;
};

const convertClaims = (claims: JwtClaims, schema: ClaimSchema, isPartial: boolean): CelClaims => {
  const result: Record<string, CelValue> = Object.create(null);
  for (const [name, convert] of claimPlan(schema).convert) {
    if (Object.hasOwn(claims, name) && claims[name] !== undefined) result[name] = convert(claims[name], isPartial);
  }
  return result;
};

const converted = new WeakMap<JwtClaims, { readonly schema: ClaimSchema; readonly values: CelClaims }>();

/**
 * Returns the declared claims of a session in CEL's types. The result is cached with the claims for the latest schema,
 * so that the steps of one request convert them once. Claims must not change after the first call. `isPartial`: the claims
 * are those of an organization's event, which need not have the other members of an object.
 */
export const celClaims = (claims: JwtClaims, schema: ClaimSchema, isPartial = false): CelClaims => {
  const last = converted.get(claims);
  if (last?.schema === schema) return last.values;
  const values = convertClaims(claims, schema, isPartial);
  converted.set(claims, { schema, values });
  return values;
};

/** Whether the value has such a number at a place that the type declares. A number is found under any declared type. */
const hasUnsafeNumber = (value: unknown, type: ClaimType): boolean => {
  if (Array.isArray(value)) {
    const of = type.kind === 'list' ? type.of : type;
    return value.some((item) => (type.kind === 'list' ? hasUnsafeNumber(item, of) : isUnsafeNumber(item)));
  }
  if (!isRecord(value)) return isUnsafeNumber(value);
  if (type.kind === 'map') return Object.values(value).some((item) => hasUnsafeNumber(item, type.of));
  if (type.kind !== 'object') return false;
  return [...type.members].some(
    ([name, member]) => Object.hasOwn(value, name) && hasUnsafeNumber(value[name], member.type),
  );
};

/** Returns the claims with a number beyond 2^53, which JSON may have rounded, where a declaration reads it. */
export const unsafeClaims = (claims: JwtClaims, schema: ClaimSchema): readonly string[] =>
  [...claimPlan(schema).types].flatMap(([name, type]) =>
    Object.hasOwn(claims, name) && hasUnsafeNumber(claims[name], type) ? [name] : [],
  );

/** A value that does not fit its declaration, and the place of it, such as `o.roles[2]`. It has no value of a claim. */
type Misfit = { readonly place: string; readonly expected: string; readonly given: string };

const expectedWords: Readonly<Record<ClaimType['kind'], string>> = {
  string: 'text',
  int: 'a whole number',
  double: 'a number',
  bool: 'true or false',
  texts: 'text or a list of texts',
  list: 'a list',
  map: 'an object',
  object: 'an object',
};

const ofTooMany = (size: number, most: number, one: string, many: string): string =>
  size > most ? `${one} of more than ${most} ${many}` : one;

const givenWords = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return ofTooMany(value.length, maxClaimText, 'text', 'characters');
  if (Array.isArray(value)) return ofTooMany(value.length, maxClaimList, 'a list', 'items');
  if (isRecord(value)) return ofTooMany(Object.keys(value).length, maxClaimList, 'an object', 'members');
  return typeof value === 'number' ? 'a number' : 'true or false';
};

/** Returns where and how a value does not fit its type; undefined if it fits. */
const findMisfit = (value: unknown, type: ClaimType, path: string): Misfit | undefined => {
  if (type.kind === 'list' && Array.isArray(value) && value.length <= maxClaimList) {
    for (const [index, item] of value.entries()) {
      const found = findMisfit(item, type.of, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (type.kind === 'map' && isRecord(value) && Object.keys(value).length <= maxClaimList) {
    for (const [name, item] of Object.entries(value)) {
      const found = findMisfit(item, type.of, `${path}[${JSON.stringify(name)}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (type.kind === 'object' && isRecord(value)) {
    for (const [name, member] of type.members) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (given === undefined && member.isOptional) continue;
      const found = findMisfit(given, member.type, `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (planType(type, []).convert(value, false) !== mismatch) return undefined;
  return { place: path, expected: expectedWords[type.kind], given: givenWords(value) };
};

/** Returns where and how each claim that does not fit its declaration fails, by the claim's name. */
export const misfits = (claims: JwtClaims, schema: ClaimSchema): ReadonlyMap<string, Misfit> => {
  const read = celClaims(claims, schema);
  const found = new Map<string, Misfit>();
  for (const [name, type] of claimPlan(schema).types) {
    const misfit = read[name] === mismatch ? findMisfit(claims[name], type, name) : undefined;
    if (misfit !== undefined) found.set(name, misfit);
  }
  return found;
};
