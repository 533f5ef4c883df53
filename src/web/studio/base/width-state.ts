/** Draws an element of Studio anew when the page becomes narrow or wide. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** The width from which a panel has room beside the canvas, as in studio.css. */
const narrow = matchMedia('(max-width: 1199px)');

export class WidthState implements ReactiveController {
  readonly #host: ReactiveControllerHost;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  get isNarrow(): boolean {
    return narrow.matches;
  }

  hostConnected(): void {
    narrow.addEventListener('change', this.#follow);
  }

  hostDisconnected(): void {
    narrow.removeEventListener('change', this.#follow);
  }

  readonly #follow = (): void => this.#host.requestUpdate();
}
