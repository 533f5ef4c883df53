// Loaded before the product: it then counts no use. No setting does that.
import { register } from 'node:module';

register('./off-hooks.mjs', import.meta.url);
