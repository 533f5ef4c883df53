/** Files that become sources: which an installation takes, what they will be called, and how they are sent. */
import { type Answer, type Api, StudioError } from './api.js';

export type UploadFacts = Answer<'uploads-list'>;
export type UploadedSource = UploadFacts['sources'][number];
export type UploadedKind = UploadedSource['kind'];

/** A name for the source of a file that no other source has. */
export const sourceNameOf = (fileName: string, taken: readonly string[]): string => {
  const base = fileName.replace(/\.[A-Za-z0-9]{1,8}$/, '').slice(0, 100) || 'data';
  if (!taken.includes(base)) return base;
  let number = 2;
  while (taken.includes(`${base} ${number}`)) number += 1;
  return `${base} ${number}`;
};

/** Whether the file is a DuckDB file by its name: those are sources of their own. */
export const isDatabaseFile = ({ name }: File): boolean => /\.(?:duckdb|ddb|db)$/i.test(name);

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** A size in the reader's own format. */
export const sizeOf = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const format = { style: 'unit', unit: units[power] ?? 'byte', unitDisplay: power === 0 ? 'long' : 'short' } as const;
  return (bytes / 1024 ** power).toLocaleString(undefined, { ...format, maximumFractionDigits: 1 });
};

export type Sending = {
  readonly source: string;
  readonly file: File;
  /** Whether the source exists already: the file then replaces or adds to what was uploaded. */
  readonly isNewer: boolean;
};

const messageIn = (body: unknown, status: number): StudioError => {
  const { code = '', message = '' } = (body as { error?: { code?: string; message?: string } } | null)?.error ?? {};
  const late = status === 408 ? 'The file did not arrive in time (server.requestTimeoutSeconds).' : '';
  return new StudioError(code, message || late || `The server answered ${status}.`, status);
};

/** Sends a file. `fetch` does not say how much of a body has left. */
export const sendFile = (
  { session }: Api,
  { source, file, isNewer }: Sending,
  progress: (sent: number) => void,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(isNewer ? 'PUT' : 'POST', `/studio/uploads?${new URLSearchParams({ source, file: file.name })}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('x-guestlist-change', session.changeToken);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded }) => progress(loaded);
    request.onload = () => {
      if (request.status === 200) resolve();
      else reject(messageIn(request.response, request.status));
    };
    request.onerror = () =>
      reject(new StudioError('NETWORK_ERROR', 'The connection ended before the file had arrived. Try again.', 0));
    request.onabort = () => reject(new StudioError('CANCELLED', 'Cancelled. Nothing was kept of this file.', 0));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
