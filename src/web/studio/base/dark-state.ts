/** Gives an element of Studio that has the design tokens of the elements their dark theme, as the system is. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

const dark = matchMedia('(prefers-color-scheme: dark)');

export class DarkState implements ReactiveController {
  readonly #host: ReactiveControllerHost & HTMLElement;
  readonly #internals: ElementInternals;

  constructor(host: ReactiveControllerHost & HTMLElement) {
    this.#host = host;
    this.#internals = host.attachInternals();
    host.addController(this);
  }

  get isDark(): boolean {
    return dark.matches;
  }

  hostConnected(): void {
    dark.addEventListener('change', this.#follow);
    this.#follow();
  }

  hostDisconnected(): void {
    dark.removeEventListener('change', this.#follow);
  }

  readonly #follow = (): void => {
    if (dark.matches) this.#internals.states.add('dark');
    else this.#internals.states.delete('dark');
    this.#host.requestUpdate();
  };
}
