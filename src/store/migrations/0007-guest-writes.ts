import { statementsOf } from './run.js';

export const guestWrites = statementsOf([]);
