import { statementsOf } from './run.js';

export const dashboards = statementsOf([]);
