/** The search of the documentation, which loads the index that the build made when the field is first used, and live examples. */
import MiniSearch, { type SearchResult } from 'minisearch';
import { addCopyButtons } from './copy.js';
import { startLiveExamples } from './live.js';
import { weightOf } from './rank.js';
import options from './search-options.json' with { type: 'json' };

type Found = SearchResult & {
  readonly title: string;
  readonly heading: string;
  readonly url: string;
  readonly excerpt: string;
};

const element = <Kind extends HTMLElement>(id: string): Kind => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element #${id}.`);
  return found as Kind;
};
const field = element<HTMLInputElement>('search');
const list = element<HTMLUListElement>('results');

let index: Promise<MiniSearch> | undefined;
const loadIndex = (): Promise<MiniSearch> => {
  index ??= fetch('/docs/search.json')
    .then(async (answer) => {
      if (!answer.ok) throw new Error(`The index of the search was answered with ${answer.status}.`);
      return MiniSearch.loadJSON(await answer.text(), { ...options, searchOptions: searchOptions() });
    })
    .catch((error: unknown) => {
      index = undefined;
      throw error;
    });
  return index;
};
const searchOptions = () => ({ ...options.searchOptions, combineWith: 'AND' as const });

const close = (): void => {
  list.hidden = true;
  field.setAttribute('aria-expanded', 'false');
  field.removeAttribute('aria-activedescendant');
};

const optionOf = ({ title, heading, url, excerpt }: Found, position: number): HTMLLIElement => {
  const item = document.createElement('li');
  item.id = `result-${position}`;
  item.setAttribute('role', 'option');
  const link = document.createElement('a');
  link.href = url;
  link.tabIndex = -1;
  const name = document.createElement('strong');
  name.textContent = heading === title ? title : `${title} › ${heading}`;
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(name, text);
  item.append(link);
  return item;
};

const note = (text: string): HTMLLIElement => {
  const item = document.createElement('li');
  item.className = 'note';
  item.textContent = text;
  return item;
};

const show = (items: readonly HTMLElement[]): void => {
  list.replaceChildren(...items);
  list.hidden = false;
  field.setAttribute('aria-expanded', 'true');
  field.removeAttribute('aria-activedescendant');
};

const search = async (): Promise<void> => {
  const asked = field.value.trim();
  if (asked === '') return close();
  try {
    const found = (await loadIndex()).search(asked, { boostDocument: (url: string) => weightOf(url, asked) });
    // The reader typed on while the index was loaded.
    if (field.value.trim() !== asked) return;
    show(found.length === 0 ? [note('Nothing found.')] : (found.slice(0, 12) as Found[]).map(optionOf));
  } catch (error) {
    show([note('The search cannot be loaded. Try again later.')]);
    throw error;
  }
};

const move = (step: number): void => {
  const all = [...list.querySelectorAll<HTMLLIElement>('[role=option]')];
  const now = all.findIndex(({ id }) => id === field.getAttribute('aria-activedescendant'));
  const next = all[(now + step + all.length + (now === -1 && step === -1 ? 1 : 0)) % all.length];
  for (const item of all) item.toggleAttribute('aria-selected', item === next);
  if (next === undefined) return;
  next.setAttribute('aria-selected', 'true');
  field.setAttribute('aria-activedescendant', next.id);
  next.scrollIntoView({ block: 'nearest' });
};

const open = (): void => {
  const chosen = field.getAttribute('aria-activedescendant') ?? 'result-0';
  document.getElementById(chosen)?.querySelector('a')?.click();
  close();
};

const keys: Readonly<Record<string, () => void>> = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: open,
  Escape: close,
};

addCopyButtons();
startLiveExamples();
field.hidden = false;
field.addEventListener('focus', () => void loadIndex());
field.addEventListener('input', () => void search());
field.addEventListener('keydown', (event) => {
  const act = list.hidden ? undefined : keys[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});
document.addEventListener('click', ({ target }) => {
  if (target instanceof Node && !field.parentElement?.contains(target)) close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  field.focus();
});

// The API reference was served here: its links lead there still.
const { pathname, hash } = window.location;
if (pathname === '/docs' && hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1))) === null) {
  window.location.replace(`/docs/api${hash}`);
}
