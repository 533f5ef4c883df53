/**
 * Live examples: a page of the demo is a host page too. Somebody who is not logged in to the demo becomes its manager of
 * Los Angeles. Where no demo runs, the page says so.
 */
import { isRecord } from '../base/client.js';

const user = 'lax-manager';
const script = '/elements.js';

/** Whether somebody is logged in to the demo afterwards. */
const enterDemo = async (): Promise<boolean> => {
  const session = await fetch('/demo/session', { cache: 'no-store' });
  const body: unknown = session.ok ? await session.json() : null;
  if (!isRecord(body)) return false;
  if (body.current !== null) return true;
  const headers = { 'content-type': 'application/json' };
  const login = await fetch('/demo/login', { method: 'POST', headers, body: JSON.stringify({ user }) });
  return login.ok;
};

const show = async (place: HTMLElement): Promise<void> => {
  if (!(await enterDemo())) throw new Error('Live examples need the demo: run npm start, and open this page there.');
  await import(script);
  const element = document.createElement(place.dataset.tag ?? '');
  const attributes = JSON.parse(place.dataset.attributes ?? '{}') as Readonly<Record<string, string>>;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  place.replaceChildren(element);
};

/** Gives each example of the page its button. */
export const startLiveExamples = (): void => {
  for (const place of document.querySelectorAll<HTMLElement>('.live')) {
    const [button, status] = [place.querySelector('button'), place.querySelector('p')];
    if (button === null || status === null) continue;
    button.hidden = false;
    button.addEventListener('click', () => {
      button.disabled = true;
      show(place).catch((error: unknown) => {
        button.disabled = false;
        status.textContent = error instanceof Error ? error.message : String(error);
      });
    });
  }
};
