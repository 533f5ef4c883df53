/**
 * Files that authors upload: each becomes a source of its own, in a folder of its own. The file goes from the request to
 * the disk piece by piece, and is never in memory as a whole. An upload that does not succeed leaves no file.
 */
import { open } from 'node:fs/promises';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Audit } from '../gateway/audit/audit.js';
import type { Origins } from '../gateway/authenticate/credential.js';
import { type AdminCommand, adminCommand, declareCommand, noInput, readBy } from '../gateway/common/admin-command.js';
import type { Log } from '../model/log-events.js';
import type { Datasource } from '../model/organization.js';
import { nameInRecords, type Person } from '../model/person.js';
import { Refusal } from '../model/refusal.js';
import { type MakeDatabase, type ReadFileKind, tableNameOf, type UploadedKind } from '../model/upload.js';
import type { UploadFolder, UploadPlace } from '../platform/files/upload-folder.js';
import { identifier } from '../platform/http/interface/fields.js';
import type { Dispatch, DispatchResponse } from '../platform/http/wire/bind.js';
import { BodyTooLarge, bodyFault } from '../platform/http/wire/body-faults.js';
import { sendAnswer } from '../platform/http/wire/operations.js';
import { goneSignal } from '../platform/http/wire/sending.js';
import { assertRole } from './access.js';
import { loggedInOf, requestIdOf } from './requests.js';
import type { StudioSessions } from './sessions.js';
import type { Work } from './work.js';

export type Uploads = {
  /** Why this installation takes no files. Null: it takes them. */
  readonly refusal: string | null;
  readonly maxBytes: number;
  readonly folder: UploadFolder;
  readonly readFileKind: ReadFileKind;
  readonly makeDatabase: MakeDatabase;
  readonly findSource: (name: string) => Promise<Datasource | undefined>;
  readonly listSources: () => Promise<readonly Datasource[]>;
};

type UploadOptions = {
  readonly sessions: StudioSessions;
  readonly origins: Origins;
  readonly uploads: Uploads;
  readonly work: Pick<Work, 'callOperation'>;
  readonly audit: Audit;
  readonly log: Log;
};

const uploadQuery = z.strictObject({ source: identifier, file: z.string().min(1).max(255) });
type UploadQuery = z.output<typeof uploadQuery>;

const busySeconds = 10;
const maxAtOnce = 2;

const refuse = (message: string): Refusal => new Refusal('INVALID_REQUEST_BODY', message, { reason: 'upload-refused' });

const queryOf = (request: Request): UploadQuery => {
  const { data } = uploadQuery.safeParse(request.query);
  if (data === undefined)
    throw refuse('Send the query parameters source, the name of the source, and file, the name of the file.');
  return data;
};

/** Throws before a byte of the body is read. */
const assertFile = ({ headers }: Request, maxBytes: number): void => {
  if (!/^application\/octet-stream *(;|$)/i.test(headers['content-type'] ?? '')) {
    throw refuse('Send the file as the body, with Content-Type application/octet-stream.');
  }
  if (headers['content-encoding'] !== undefined) throw bodyFault('encoding');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge(maxBytes, false);
};

/** Writes the body to a new file. The next piece is read when the last one is written. */
const receive = async (request: Request, path: string, maxBytes: number): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  let size = 0;
  try {
    // The connection must stay for the answer.
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes) throw new BodyTooLarge(maxBytes, true);
      await file.writeFile(piece);
    }
  } catch (cause) {
    throw request.destroyed && !request.complete ? bodyFault('aborted', cause) : cause;
  } finally {
    await file.close();
  }
  if (!request.complete) throw bodyFault('aborted');
};

/** The uploads under way: few at once, and one for each source, whose tables the later one would lose. */
const createTurns = () => {
  const underWay = new Set<string>();
  return async <R>(source: string, work: () => Promise<R>): Promise<R> => {
    if (underWay.has(source) || underWay.size >= maxAtOnce) {
      throw new Refusal('RATE_LIMITED', 'Other files are being uploaded now. Try again in a few seconds.', {
        reason: 'upload-busy',
        retryAfterSeconds: busySeconds,
      });
    }
    underWay.add(source);
    try {
      return await work();
    } finally {
      underWay.delete(source);
    }
  };
};

/** What a source was made of. Undefined: it was not uploaded. */
const uploadedKind = ({ folder }: Uploads, source: Datasource): UploadedKind | undefined =>
  source.datasourceType === 'DUCKDB' ? folder.kindOf(source.path) : undefined;

/** What stands at the source now. Throws where a file may not become it. */
const earlierOf = async (
  uploads: Uploads,
  { source }: UploadQuery,
  isNew: boolean,
): Promise<{ readonly path: string; readonly kind: UploadedKind } | null> => {
  const found = await uploads.findSource(source);
  const named = JSON.stringify(source);
  if (isNew && found !== undefined) {
    throw refuse(
      `There is a source ${named} already. Choose another name, or upload a newer file on the page of that source.`,
    );
  }
  if (isNew) return null;
  if (found === undefined) throw new Refusal('NOT_FOUND', `There is no source ${named}.`);
  const kind = uploadedKind(uploads, found);
  if (found.datasourceType !== 'DUCKDB' || kind === undefined) {
    throw refuse(`The source ${named} was not uploaded: it is changed where it is.`);
  }
  return { path: found.path, kind };
};

type Earlier = Awaited<ReturnType<typeof earlierOf>>;

/** Makes the database of the file that was received, and returns its path. */
const make = async (
  { readFileKind, makeDatabase }: Uploads,
  { received, made, finish }: UploadPlace,
  { file, earlier, signal }: { readonly file: string; readonly earlier: Earlier; readonly signal: AbortSignal },
): Promise<string> => {
  const content = await readFileKind(received);
  const kind: UploadedKind = content === 'duckdb' ? 'database' : 'tables';
  if (earlier !== null && earlier.kind !== kind) {
    throw refuse(
      earlier.kind === 'database'
        ? 'This source is a DuckDB file: upload a newer DuckDB file.'
        : 'This source is made of CSV and Parquet files: upload one of these.',
    );
  }
  await makeDatabase({ received, made, table: tableNameOf(file), before: earlier?.path ?? null }, content, signal);
  return finish(kind);
};

type Removing = { readonly uploads: Uploads; readonly log: Log };

/** Removes the file of a source that no longer reads it. A file that cannot be removed changes nothing for the source. */
const removeFile = async ({ uploads, log }: Removing, path: string): Promise<void> => {
  try {
    await uploads.folder.remove(path);
  } catch (err) {
    log.warn({ event: 'studio.purge_failed', err }, 'failed to remove an uploaded file that no source reads');
  }
};

/** Dispatches, and removes the uploaded file of a source that was deleted. */
export const removingFiles =
  (removing: Removing, dispatch: Dispatch): Dispatch =>
  async (request) => {
    if (request.method !== 'DELETE' || request.path !== '/api/v2/datasource') return dispatch(request);
    const { uploads } = removing;
    const before = await uploads.listSources();
    const answer = await dispatch(request);
    for (const source of before) {
      if (source.datasourceType !== 'DUCKDB' || uploadedKind(uploads, source) === undefined) continue;
      if ((await uploads.findSource(source.name)) === undefined) await removeFile(removing, source.path);
    }
    return answer;
  };

/** One request with a file, of a person who may upload. */
type Asked = {
  readonly request: Request;
  readonly response: Response;
  readonly person: Person;
  readonly query: UploadQuery;
  readonly isNew: boolean;
};

/** Stores the source by the ordinary operation. */
const store = (
  { work }: UploadOptions,
  { response, person, query: { source }, isNew }: Asked,
  path: string,
): Promise<DispatchResponse> => {
  const requestId = requestIdOf(response);
  return work.callOperation(person, {
    ...{ method: isNew ? 'POST' : 'PUT', path: '/api/v2/datasource', query: {}, requestId },
    readBody: async () => ({ datasourceType: 'DUCKDB', credentials: { name: source, path } }),
    signal: goneSignal(response, requestId),
  });
};

/** Takes the file and stores its source. What does not succeed leaves no file. */
const uploading = (options: UploadOptions) => {
  const { uploads } = options;
  return async (asked: Asked, earlier: Earlier): Promise<DispatchResponse> => {
    const { request, response, query } = asked;
    const place = await uploads.folder.create();
    try {
      await receive(request, place.received, uploads.maxBytes);
      const signal = goneSignal(response, requestIdOf(response));
      const path = await make(uploads, place, { file: query.file, earlier, signal });
      const answer = await store(options, asked, path);
      if (answer.refused !== undefined) await place.remove();
      return answer;
    } catch (error) {
      await place.remove();
      throw error;
    }
  };
};

/** Records each upload before its file is stored: what cannot be recorded must not happen. */
const recorded = (options: UploadOptions) => {
  const { audit, uploads } = options;
  const upload = uploading(options);
  return async (asked: Asked): Promise<DispatchResponse> => {
    const { response, person, query, isNew } = asked;
    const earlier = await earlierOf(uploads, query, isNew);
    const detail = { command: 'upload-file', operator: nameInRecords(person), source: query.source };
    const record = (code: string, step: string): Promise<void> =>
      audit.record({ kind: 'admin', code, requestId: requestIdOf(response), detail: { ...detail, step } });
    await record('OK', 'asked');
    try {
      const answer = await upload(asked, earlier);
      if (answer.refused !== undefined) await record(answer.refused.code, 'refused');
      // Queries that began before have ended; later ones read the newer file.
      else if (earlier !== null) await removeFile(options, earlier.path);
      return answer;
    } catch (error) {
      await record(error instanceof Refusal ? error.code : 'INTERNAL_SERVER_ERROR', 'refused');
      throw error;
    }
  };
};

export const listUploads = declareCommand(
  'uploads-list',
  noInput,
  z.object({
    /** Why no files are taken. Null: they are. */
    refusal: z.string().nullable(),
    maxBytes: z.number(),
    sources: z.array(z.object({ name: z.string(), kind: z.enum(['tables', 'database']) })),
  }),
  readBy('author'),
);

/** Whether files are taken, and which sources were uploaded. */
export const listUploadsCommand = (uploads: Uploads): AdminCommand =>
  adminCommand(listUploads, async () => {
    const sources = (await uploads.listSources()).flatMap((source) => {
      const kind = uploadedKind(uploads, source);
      return kind === undefined ? [] : [{ name: source.name, kind }];
    });
    return { refusal: uploads.refusal, maxBytes: uploads.maxBytes, sources };
  });

/** Files that are sent to `/studio/uploads`. */
export const createUploadPaths = (options: UploadOptions) => {
  const { uploads } = options;
  const loggedIn = loggedInOf(options);
  const inTurn = createTurns();
  const upload = recorded(options);
  const handle =
    (isNew: boolean) =>
    async (request: Request, response: Response): Promise<void> => {
      const { person } = (await loggedIn(request)).session;
      assertRole(person, 'uploading files', ['author']);
      if (uploads.refusal !== null) throw new Refusal('NOT_SUPPORTED', uploads.refusal);
      const query = queryOf(request);
      assertFile(request, uploads.maxBytes);
      const answer = await inTurn(query.source, () => upload({ request, response, person, query, isNew }));
      await sendAnswer(response, answer);
    };
  return {
    create: handle(true),
    replace: handle(false),
  };
};
