/** Why a card is closed, in words for authors. Pure. */
import type { Answer } from './api.js';

type Checked = Answer<'cards-check'>;
type Profile = NonNullable<Checked['profiles']>[number];
export type Cards = Profile['cards'];
export type ClosedCard = Cards['refused'][number];

const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;

/** The names of files without the folders of the server. */
export const withoutFolders = (text: string): string => text.replaceAll(/\/\S*\/(?=[\w.-]+\.ya?ml)/g, '');

const quoted = (text: string): string => `“${text}”`;

/** The restrictions of the policy that close the card, each with its file and line. */
const restrictionsOf = (card: ClosedCard): string => {
  const all = card.by.flatMap(({ from }) => from.map(({ name, at }) => `${quoted(name)} (${withoutFolders(at)})`));
  return listed([...new Set(all)]) || 'a restriction';
};

const namesOf = (card: ClosedCard): string => listed([...new Set(card.by.map(({ name }) => quoted(name)))]);

export const whyClosed = (card: ClosedCard): string => {
  if (card.cause === 'hidden') return `It is hidden by ${restrictionsOf(card)}.`;
  if (card.cause === 'definition') return `Nobody can see it, with or without a restriction. ${card.message}`;
  const names = namesOf(card);
  if (card.cause === 'column')
    return `It needs ${names === '' ? 'a column' : names}, hidden by ${restrictionsOf(card)}.`;
  const by = names === '' ? 'restricts the rows' : `restricts by ${names}`;
  return `${restrictionsOf(card)} ${by}, and the card cannot be restricted so. ${card.message}`;
};

/** Of whom a profile speaks. */
export const whoIs = ({ roles, restrictions }: Pick<Profile, 'roles' | 'restrictions'>): string => {
  if (roles.length > 0) return `As ${listed(roles.map(quoted))}`;
  return `With the restriction ${listed(restrictions.map(({ name }) => quoted(name)))}`;
};

const noToken = 'nothing can be shown, since no token is made';

/** How many cards are closed. */
export const howMany = ({ cards, refused, refusal }: Cards): string => {
  if (refusal !== null || refused.some(({ refuses }) => refuses === 'token')) return noToken;
  if (cards === 0) return 'there are no cards yet';
  if (refused.length === 0) return cards === 1 ? 'the card can be shown' : `all ${cards} cards can be shown`;
  return `${refused.length} of ${cards} ${cards === 1 ? 'card' : 'cards'} can’t be shown`;
};

export const isWhole = ({ refused, refusal }: Cards): boolean => refused.length === 0 && refusal === null;
