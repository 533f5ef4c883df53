/** What a process that writes files of rollups is asked and answers. Errors keep their class on the way, since callers decide by it. */
import type { Datasource } from '../../model/organization.js';
import type { Cell } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { DependencyUnavailable } from '../../model/unavailable.js';
import type { WrittenFile } from '../../platform/files/rollup-folder.js';
import { type Log, NamesRefused, type OpenOptions, TypesChanged } from '../connections/database.js';
import type { Statement } from '../dialect/dialect.js';
import { Unkept } from './cells.js';
import type { Layout } from './layout.js';
import type { FileLimits, Rewriting } from './partition-file.js';

/** Where rows are read. */
export type Source = {
  readonly datasource: Datasource;
  readonly limits: Pick<OpenOptions, 'timeoutMs' | 'streamMs' | 'connectTimeoutMs'>;
};

export type Writing = Pick<Layout, 'columns' | 'clientColumn'> & {
  readonly statement: Statement;
  readonly batchBytes: number;
  /** A folder that is made for the files. */
  readonly path: string;
  readonly erased: readonly string[];
  readonly fileRows: number | undefined;
};

/** `source` null: files are rewritten alone. */
type Opening = {
  readonly folder: string;
  readonly limits: FileLimits;
  /** How far the process gives way: 0 not at all, 19 the most. */
  readonly niceness: number;
  readonly source: Source | null;
};

/** What is asked and answered, by its name. The first is `open`, the last `close`. */
type Questions = {
  readonly open: readonly [Opening, null];
  readonly read: readonly [{ readonly statement: Statement }, readonly (readonly Cell[])[]];
  readonly write: readonly [Writing, readonly WrittenFile[]];
  readonly rewrite: readonly [Rewriting, WrittenFile | null];
  readonly close: readonly [null, null];
};

export type QuestionKind = keyof Questions;
export type QuestionOf<Kind extends QuestionKind> = Questions[Kind][0];
export type AnswerTo<Kind extends QuestionKind> = Questions[Kind][1];

export type Asked = {
  readonly [Kind in QuestionKind]: { readonly kind: Kind; readonly question: QuestionOf<Kind> };
}[QuestionKind];

export type Told =
  | { readonly kind: 'answer'; readonly answer: AnswerTo<QuestionKind> }
  | { readonly kind: 'fault'; readonly error: ToldError }
  | { readonly kind: 'line'; readonly level: keyof Log; readonly line: object; readonly message: string };

const classes = { Refusal, NamesRefused, TypesChanged } as const;

type Common = {
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ToldError | undefined;
};

export type ToldError = Common &
  (
    | ({ readonly as: keyof typeof classes } & Pick<Refusal, 'code' | 'reason' | 'retryAfterSeconds' | 'place'>)
    | { readonly as: 'DependencyUnavailable'; readonly reason: DependencyUnavailable['reason'] }
    | { readonly as: 'Unkept' }
    | { readonly as: 'other'; readonly name: string; readonly code: string | undefined }
  );

const deepest = 8;

const codeIn = (error: Error): string | undefined => {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
};

/** Properties of a driver's error are left out, since drivers keep bound values in them. */
export const toldError = (error: unknown, depth = 0): ToldError => {
  if (!(error instanceof Error)) return toldError(new TypeError('something that is no Error was thrown'));
  const { message, stack } = error;
  const cause = error.cause === undefined || depth >= deepest ? undefined : toldError(error.cause, depth + 1);
  const common = { message, stack, cause };
  if (error instanceof Refusal) {
    const { code, reason, retryAfterSeconds, place } = error;
    const as =
      error instanceof NamesRefused ? 'NamesRefused' : error instanceof TypesChanged ? 'TypesChanged' : 'Refusal';
    return { ...common, as, code, reason, retryAfterSeconds, place };
  }
  if (error instanceof DependencyUnavailable) return { ...common, as: 'DependencyUnavailable', reason: error.reason };
  if (error instanceof Unkept) return { ...common, as: 'Unkept' };
  return { ...common, as: 'other', name: error.name, code: codeIn(error) };
};

const madeOf = (told: ToldError): Error => {
  const { message } = told;
  const cause = told.cause === undefined ? undefined : errorOf(told.cause);
  switch (told.as) {
    case 'DependencyUnavailable':
      return new DependencyUnavailable(told.reason, message, cause);
    case 'Unkept':
      return new Unkept(message);
    case 'other': {
      const { name, code } = told;
      const made = new Error(message, cause === undefined ? undefined : { cause });
      return Object.assign(made, { name }, code === undefined ? {} : { code });
    }
    default: {
      const { code, reason, retryAfterSeconds, place } = told;
      const known = { reason, cause, retryAfterSeconds: retryAfterSeconds ?? undefined, place: place ?? undefined };
      return new classes[told.as](code, message, known);
    }
  }
};

/** The error again, as the process had it. */
export const errorOf = (told: ToldError): Error =>
  Object.defineProperty(madeOf(told), 'stack', { value: told.stack, configurable: true, writable: true });
