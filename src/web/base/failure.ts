/** What a guest reads about a failure. The event `guestlist-error` has the service's own message, for developers. */
import type { Text } from '../../model/texts/text.js';
import type { GuestError } from './client.js';

/** By its name: each script of the page may have a class of its own. */
const isGuestError = (error: unknown): error is GuestError => error instanceof Error && error.name === 'GuestError';

/** Neutral and in the reader's language. */
export const failureText = (error: unknown, text: Text): string => {
  const code = isGuestError(error) ? error.code : 'UNEXPECTED';
  switch (code) {
    case 'NETWORK_ERROR':
      return text('The analytics service can’t be reached.');
    case 'UNREADABLE_ANSWER':
      return text('The service’s answer can’t be read.');
    case 'PART_MISSING':
      return text('A part of the page could not be loaded.');
    case 'QUOTA_REACHED':
      return text('Your organization has used what its plan allows. More is possible later.');
    case 'UNEXPECTED':
      return text('Something went wrong on this page.');
    default:
      // English shows the service's message, other languages a sentence in its place.
      return text('{message}', { message: error instanceof Error ? error.message : '' });
  }
};
