/** What the pipeline does with a session whose tenant and access it has checked. */
import type { Session } from './authenticate/signed-session.js';

/** Ends before the answer, so that a claim that the host took away counts from then on. */
export type NoteSession = (session: Session, clientId: string) => Promise<void>;

/** Nothing is kept. */
export const noteNothing: NoteSession = async () => {};
