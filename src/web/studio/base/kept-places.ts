/** Keeps where a person put the tables of a diagram: in this browser, by model. */
import { type Places, placesIn } from './model-places.js';

const keyOf = (model: string): string => `guestlist-studio-places:${model}`;

/** A browser may refuse to keep anything. */
export const readPlaces = (model: string): Places => {
  try {
    return placesIn(localStorage.getItem(keyOf(model)));
  } catch {
    return new Map();
  }
};

export const writePlaces = (model: string, places: Places): void => {
  try {
    if (places.size === 0) localStorage.removeItem(keyOf(model));
    else localStorage.setItem(keyOf(model), JSON.stringify(Object.fromEntries(places)));
  } catch {
    // The places then last until the page is left.
  }
};

/** A new model keeps its places under its source until it has a name. */
export const newModelKey = (source: string): string => `new:${source}`;

export const renamePlaces = (from: string, to: string): void => {
  const places = readPlaces(from);
  if (places.size === 0) return;
  writePlaces(to, places);
  writePlaces(from, new Map());
};
