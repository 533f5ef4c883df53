import { statementsOf } from './run.js';

export const keys = statementsOf([]);
