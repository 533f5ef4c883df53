/** Whether parts of a dashboard are on the clipboard, as far as Studio knows: no page may look without being asked. */
const copiedKey = 'guestlist-studio-copied';

/** Notes that parts of a dashboard are on the clipboard, for all tabs of this browser. What they are is not noted. */
export const noteCopied = (): void => localStorage.setItem(copiedKey, 'yes');

/** Whether parts of a dashboard were copied in this browser. */
export const hasCopied = (): boolean => localStorage.getItem(copiedKey) !== null;

/** Calls `changed` when parts are first copied in another tab. */
export const watchCopied = (changed: () => void, signal: AbortSignal): void =>
  window.addEventListener('storage', ({ key }) => key === copiedKey && changed(), { signal });
