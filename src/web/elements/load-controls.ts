/** Loads the controls, and tries again until they are there. Tells the elements of the page if they do not come. */
import { type Backoff, backoffMs, noBackoff } from '../token/backoff.js';

const longestMs = 30_000;
/** After so many failures a reload is offered: the files of an earlier release may be gone. */
const patience = 2;

/** `isMissing`: the controls do not come. `elements` are rendered again when that changes. */
export const controls = { isMissing: false, elements: new Set<{ readonly requestUpdate: () => void }>() };

const tell = (isMissing: boolean): void => {
  controls.isMissing = isMissing;
  for (const element of controls.elements) element.requestUpdate();
};

export const loadControls = (backoff: Backoff = { ...noBackoff, longestMs }): void => {
  import('./controls.js').then(
    () => tell(false),
    (error: unknown) => {
      console.warn('guestlist: the controls did not load; trying again', error);
      const next = { ...backoff, failures: backoff.failures + 1 };
      tell(next.failures >= patience);
      setTimeout(() => loadControls(next), backoffMs(next, Math.random));
    },
  );
};
