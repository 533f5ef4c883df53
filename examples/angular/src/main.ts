import '@guestlist/elements';
import { Component, CUSTOM_ELEMENTS_SCHEMA, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import type { GuestlistEvents } from '@guestlist/elements';

@Component({
  selector: 'example-page',
  // Angular leaves the elements to the browser.
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <h1>{{ name() }}</h1>
    <p id="message">{{ message() }}</p>
    <guestlist-dashboard
      [tokenUrl]="tokenUrl"
      (guestlist-loaded)="name.set($event.detail.name)"
      (guestlist-error)="showFailure($event)"
    ></guestlist-dashboard>
  `,
})
class Page {
  readonly name = signal('Numbers');
  readonly message = signal('');
  readonly tokenUrl = `/embed-token${window.location.search}`;

  showFailure({ detail }: GuestlistEvents['guestlist-error']): void {
    if (detail.status === 403) this.message.set(detail.message);
  }
}

await bootstrapApplication(Page, { providers: [provideZonelessChangeDetection()] });
