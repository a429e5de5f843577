#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { keepCompiledCode } from "./config/compiled-code.ts";

// Both before anything else is loaded. V8's space for new objects never shrinks
// again: it would grow while modules load, and by tens of MiB with every burst
// of clients, in this thread and in the others.
setFlagsFromString("--semi-space-growth-factor=1");
keepCompiledCode();

const { runProgram } = await import("./main/program.ts");
await runProgram();
