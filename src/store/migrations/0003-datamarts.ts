import { statementsOf } from './run.js';

export const datamarts = statementsOf([]);
