#!/usr/bin/env node
/** The kit as a program of its own, for the package. */
import { runUntilStopped } from './conformance.js';

process.exitCode = await runUntilStopped(process.argv.slice(2));
