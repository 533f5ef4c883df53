import { statementsOf } from './run.js';

export const workspaces = statementsOf([]);
