/** The language of one element: its attribute `language`, else the nearest `lang` of the page, else the browser's. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { directionOf, type Language, languageOf } from '../../model/texts/language.js';
import type { Texts } from '../../model/texts/text.js';
import { loadTexts } from '../base/texts.js';

type Host = ReactiveControllerHost & Element & { readonly language: string | null };
type Spoken = {
  /** A BCP 47 tag, for numbers and dates. */
  readonly tag: string;
  /** The language of the texts. */
  readonly language: Language | 'en';
  /** Undefined for English. */
  readonly texts: Texts | undefined;
};

export class Speech implements ReactiveController {
  readonly #host: Host;
  readonly #page = new MutationObserver(() => this.#host.requestUpdate());
  #spoken: Spoken | undefined;
  #loading: string | undefined;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#page.observe(document.documentElement, { attributeFilter: ['lang'] });
  }

  hostDisconnected(): void {
    this.#page.disconnect();
  }

  /** Keeps the language that is shown until the texts of another have come. */
  hostUpdate(): void {
    const tag = this.wanted;
    const language = languageOf(tag);
    const isKnown = this.#spoken?.language === language;
    if (isKnown || language === 'en')
      this.#spoken = { tag, language, texts: isKnown ? this.#spoken?.texts : undefined };
    if (isKnown || language === 'en') this.#loading = undefined;
    else if (this.#loading !== tag) this.#load(tag, language);
  }

  /** The tag that the page asks for, whether or not its texts have come. */
  get wanted(): string {
    return this.#host.language || this.#host.closest('[lang]')?.getAttribute('lang') || navigator.language;
  }

  /** English until the first texts have come. */
  get now(): Spoken {
    return this.#spoken ?? { tag: 'en', language: 'en', texts: undefined };
  }

  get direction(): 'ltr' | 'rtl' {
    return directionOf(this.now.language);
  }

  /** False while the first texts are on their way. */
  get isReady(): boolean {
    return this.#spoken !== undefined;
  }

  #load(tag: string, language: Language): void {
    this.#loading = tag;
    const settle = (texts: Texts | undefined) => {
      if (this.#loading !== tag) return;
      this.#loading = undefined;
      this.#spoken = { tag, language, texts };
      this.#host.requestUpdate();
    };
    loadTexts(language).then(settle, (error: unknown) => {
      console.error(`guestlist: the texts in "${language}" could not be loaded, English is shown`, error);
      settle(undefined);
    });
  }
}
