/**
 * Wakes the cards of the page: first those that the reader sees or soon may see, and the others when those are there. So
 * paper has all cards, and no card on the screen waits for one far below.
 */

type Card = Element & { isNear: boolean; readonly isBusy: boolean };

const pauseMs = 250;

const cards = new Set<Card>();
let observer: IntersectionObserver | undefined;
let isWaiting = false;

/** A card that is not displayed is woken when it is. */
const wakeOthers = (): void => {
  isWaiting = [...cards].some(({ isNear, isBusy }) => isNear && isBusy);
  if (isWaiting) setTimeout(wakeOthers, pauseMs);
  else for (const card of cards) card.isNear ||= card.clientWidth > 0;
};

const seen = (entries: readonly IntersectionObserverEntry[]): void => {
  for (const { target, isIntersecting } of entries) (target as Card).isNear ||= isIntersecting;
  if (!isWaiting) setTimeout(wakeOthers, pauseMs);
  isWaiting = true;
};

export const isOnScreen = (card: Element): boolean => {
  const { top, bottom } = card.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
};

/**
 * A card is near up to a screen away, also inside of parts of the page that scroll by themselves. Browsers that do not know
 * `scrollMargin` begin with the cards on the screen.
 *
 * Sets `isNear` of the card as soon as the card may ask.
 */
export const watchNear = (card: Card): void => {
  observer ??= new IntersectionObserver(seen, { scrollMargin: '100% 0px' } as IntersectionObserverInit);
  cards.add(card);
  observer.observe(card);
};

export const unwatchNear = (card: Card): void => {
  cards.delete(card);
  observer?.unobserve(card);
};
