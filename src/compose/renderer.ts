/** Builds the renderer: its browser, the files of the elements, and the service that its pages read from. */
import { accessSync, constants } from 'node:fs';
import { type BrowserStart, createRenderer } from '../delivery/rendering/renderer.js';
import type { Settings } from '../platform/config/settings.js';
import type { Assets } from '../platform/http/pages/assets.js';
import type { Dispatch } from '../platform/http/wire/bind.js';
import { inProcessTransport } from '../platform/http/wire/in-process.js';
import type { Log } from '../platform/logs/log.js';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Absence is an answer: the renderer says so at its start.
    return false;
  }
};

/** The browser of the configuration; null: there is none. */
export const findBrowser = ({ renders }: Pick<Settings, 'renders'>): string | null =>
  (renders.chromiumPath === null ? usualPlaces : [renders.chromiumPath]).find(isExecutable) ?? null;

type Parts = {
  readonly settings: Pick<Settings, 'renders'>;
  readonly log: Log;
  readonly assets: Promise<Assets>;
  readonly start: BrowserStart;
};

/** Returns the opener of the renderer. `dispatch` is the service's own, which exists only after its operations do. */
export const rendererOpener =
  ({ settings, log, assets, start }: Parts) =>
  async (dispatch: () => Dispatch) => {
    const { chromiumPath: _, timeoutSeconds, ...limits } = settings.renders;
    const files = await assets;
    return createRenderer({
      ...limits,
      pagesPerBrowser: 50,
      start,
      executablePath: findBrowser(settings),
      timeoutMs: timeoutSeconds * 1000,
      log,
      file: (path) => {
        const found = files.get(path);
        return found?.isPublic === true ? { contentType: found.contentType, body: found.body } : undefined;
      },
      read: async ({ method, path, body, language, caller }, signal) => {
        const call = inProcessTransport(dispatch(), async () => caller);
        const answer = await call(
          { method: method === 'GET' ? 'GET' : 'POST', path, query: {}, body, bearer: '', language },
          signal,
        );
        // Newline-delimited JSON comes as its text.
        const isText = typeof answer.body === 'string';
        return {
          status: answer.status,
          contentType: isText ? 'application/x-ndjson' : 'application/json',
          body: isText ? String(answer.body) : JSON.stringify(answer.body),
        };
      },
    });
  };

export type OpenRenderer = ReturnType<typeof rendererOpener>;
