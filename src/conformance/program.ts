#!/usr/bin/env node
/** The kit as a program of its own, for the package. */
import { runConformance, stopOnSignal } from './conformance.js';

process.exitCode = await runConformance(process.argv.slice(2), console, stopOnSignal());
