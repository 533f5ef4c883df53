/** Which of the embeds that a token opens an element shows. The service decides what the token may read; this only picks. */
import type { GrantedEmbed } from '../token/request.js';

/**
 * The embed with this id, or the copy of the template with this name, which has an id of its own for each client. Without an
 * id: the first embed of the kind. An id that is not among the embeds stays as it is.
 */
export const grantedId = (
  granted: readonly GrantedEmbed[],
  kind: 'dashboard' | 'metric',
  wanted: string | null,
): string | null => {
  const ids = granted.filter(({ type }) => type === kind).map(({ id }) => id);
  if (wanted === null) return ids[0] ?? null;
  return ids.includes(wanted) ? wanted : (ids.find((id) => id.startsWith(`${wanted}--`)) ?? wanted);
};
