/** The theme studio: charts of each type that change with a theme, and the file of the theme to copy. */
import { themeWarnings } from '../../model/theme/contrast.js';
import { decodeTheme } from '../../model/theme/design-tokens.js';
import { dashboardId, inlineUrl, serveInline } from './inline-service.js';
import { type Choices, textOf, themeOf } from './theme-tokens.js';

const script = '/elements.js';

const choicesOf = (form: HTMLFormElement): Choices => {
  const given = new FormData(form);
  return {
    brand: String(given.get('brand')),
    radiusInPx: Number(given.get('radius')),
    font: String(given.get('font')),
    density: String(given.get('density')) as Choices['density'],
  };
};

const start = async (studio: HTMLElement): Promise<void> => {
  const part = <Kind extends Element>(selector: string): Kind => {
    const found = studio.querySelector<Kind>(selector);
    if (found === null) throw new Error(`The theme studio has no ${selector}.`);
    return found;
  };
  const form = part<HTMLFormElement>('form');
  const frame = part<HTMLElement>('.frame');
  const [tokens, warnings, radius] = [part('.tokens code'), part('.warnings'), part('output')];
  serveInline();
  await import(script);
  const element = document.createElement('guestlist-dashboard');
  const attributes = { 'service-url': inlineUrl, token: 'inline', 'dashboard-id': dashboardId };
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);

  const show = (): void => {
    const choices = choicesOf(form);
    const theme = themeOf(choices);
    const text = textOf(theme);
    const view = new FormData(form);
    const isArabic = view.get('direction') === 'rtl';
    element.setAttribute('theme', text);
    element.setAttribute('language', isArabic ? 'ar' : 'en');
    frame.dir = isArabic ? 'rtl' : 'ltr';
    frame.className = `frame ${view.get('scheme')} ${view.get('width')}`;
    tokens.textContent = text;
    radius.textContent = `${choices.radiusInPx} px`;
    warnings.replaceChildren(
      ...themeWarnings(decodeTheme(theme).theme).map((warning) => {
        const line = document.createElement('li');
        line.textContent = warning;
        return line;
      }),
    );
  };
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => event.preventDefault());
  show();
  form.hidden = false;
  frame.replaceChildren(element);
};

const studio = document.querySelector<HTMLElement>('.theme-studio');
if (studio === null) throw new Error('The page has no theme studio.');
start(studio).catch((error: unknown) => {
  const status = studio.querySelector('.frame p');
  if (status !== null) status.textContent = 'The charts cannot be loaded. Try again later.';
  throw error;
});
