import { createLru } from '../../platform/lru.js';

/** Of one copy: verified, or not to be tried before a time (milliseconds). */
export type Remembered = 'verified' | number;

/** What this process knows of the copies of tenants. */
export type ProvisionMemory = {
  /** By template; undefined: nothing is known of this tenant at this place. */
  readonly find: (place: string, clientId: string) => ReadonlyMap<string, Remembered> | undefined;
  readonly set: (place: string, clientId: string, template: string, what: Remembered) => void;
  /** At every place. */
  readonly forget: (clientId: string) => void;
};

/** `max`: of how many tenants. */
export const createProvisionMemory = (max: number): ProvisionMemory => {
  // A place's name is of one length, so that place and client make one key.
  const held = createLru<string, Map<string, Remembered>>(max);
  const places = new Set<string>();
  return {
    find: (place, clientId) => held.get(place + clientId),
    set: (place, clientId, template, what) => {
      places.add(place);
      const known = held.get(place + clientId);
      if (known === undefined) held.set(place + clientId, new Map([[template, what]]));
      else known.set(template, what);
    },
    forget: (clientId) => {
      for (const place of places) held.delete(place + clientId);
    },
  };
};
