/**
 * Entry point of the demo host page, which plays a SaaS product: logs a user in, gets a token from the gateway, gives it to
 * the elements and renews it. What the user may see is known only from the answers of gateway and service.
 */
import { render } from 'lit';
import { addInter } from '../fonts/inter.js';
import type { Membership } from '../token/keeper.js';
import { joinUrl } from '../token/page.js';
import type { EmbedToken } from '../token/request.js';
import { type LoadedDashboard, type PageState, page } from './page.js';
import { language, say } from './say.js';
import { type DemoSession, logIn, logOut, readSession } from './session.js';

const nobody: PageState = {
  users: [],
  current: null,
  isSwitching: true,
  minted: null,
  refusal: null,
  trouble: null,
  selected: null,
  loaded: {},
  theme: 'auto',
};

const root = document.querySelector<HTMLElement>('#app') ?? document.body;
root.replaceChildren();

let state: PageState = nobody;
let keeper: Membership | undefined;

const show = (change: Partial<PageState>): void => {
  state = { ...state, ...change };
  document.documentElement.dataset.theme = state.theme;
  render(page(state, actions), root);
};

/** Removes the previous user's data from the page before requesting the next user's. */
const forgetUser = (): void => {
  keeper?.leave();
  show({ ...nobody, users: state.users, theme: state.theme });
};

const switchTo = async (userId: string | null): Promise<void> => {
  forgetUser();
  rememberInUrl('user', userId);
  rememberInUrl('dashboard', null);
  try {
    enter(await (userId === null ? logOut() : logIn(userId)));
  } catch (error) {
    show({ isSwitching: false, trouble: messageOf(error) });
  }
};

const enter = ({ users, current }: DemoSession): void => {
  show({ users, current, isSwitching: false });
  if (current === null) addInter((file) => `/fonts/${file}`);
  else keepToken();
};

const keepToken = (): void => {
  keeper = joinUrl(new URL('/embed-token', location.href).href, undefined, {
    onToken: (minted) => show({ minted, refusal: null, trouble: null, selected: selectedOf(minted) }),
    onRefused: (refusal) => show({ refusal, minted: null }),
    onTrouble: (reason, waitMs) =>
      show({
        trouble: say('{reason} Next try in {seconds} s.', { reason, seconds: String(Math.ceil(waitMs / 1000)) }),
      }),
  });
};

/** The chosen dashboard if it is still granted, otherwise the one in the URL, otherwise the first. */
const selectedOf = ({ embeds }: EmbedToken): string | null => {
  const wanted = [state.selected, new URL(location.href).searchParams.get('dashboard')];
  return embeds.find(({ id }) => wanted.includes(id))?.id ?? embeds[0]?.id ?? null;
};

const rememberInUrl = (name: string, value: string | null): void => {
  const url = new URL(location.href);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  history.replaceState(null, '', url);
};

const actions = {
  switchTo: (userId: string | null) => void switchTo(userId),
  select: (embedId: string) => {
    rememberInUrl('dashboard', embedId);
    show({ selected: embedId });
  },
  setTheme: (theme: PageState['theme']) => show({ theme }),
  expired: () => keeper?.expired(state.minted?.token ?? ''),
  loaded: (dashboard: LoadedDashboard) => show({ loaded: { ...state.loaded, [dashboard.dashboardId]: dashboard } }),
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the elements tell of their charts. */
type Drawn = { readonly isLoading: boolean; readonly isBusy: boolean };

/** Inter comes after the charts, which share the line with it. */
const addInterAfter = (element: Drawn): void => {
  if (element.isLoading || element.isBusy) requestAnimationFrame(() => addInterAfter(element));
  else addInter((file) => `/fonts/${file}`);
};

const begin = async (): Promise<void> => {
  document.documentElement.lang = language;
  show({});
  root.addEventListener('guestlist-loaded', ({ target }) => addInterAfter(target as EventTarget & Drawn));
  // Charts load their parts while the page asks for a token.
  void customElements
    .whenDefined('guestlist-dashboard')
    .then((element) => Reflect.get(element, 'prepare').call(element));
  const wanted = new URL(location.href).searchParams.get('user');
  try {
    enter(await (wanted === null ? readSession() : logIn(wanted)));
  } catch (error) {
    show({ isSwitching: false, trouble: messageOf(error) });
  }
};

void begin();
