/** Loads parts of the elements that are files of their own. An upgrade of the service removes those of the previous release. */
import { GuestError } from './client.js';

const pauseMs = 1000;

/** Loads once more after a failure. Throws PART_MISSING if that fails too; then only a reload of the page helps. */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  load()
    .catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      return load();
    })
    .catch((cause: unknown) => {
      throw new GuestError('PART_MISSING', 'A part of the page could not be loaded.', 0, cause);
    });
